#!/bin/sh
# Every header compiles alone, included twice, without a warning: headers.sh COMPILER INCLUDE EIGEN
set -eu
compiler=$1 include=$2 eigen=$3
export compiler include eigen
find "$include/quarry" -name '*.hpp' | sort | xargs -P 2 -I{} sh -c '
  header=${1#"$include"/}
  printf "#include \"%s\"\n#include \"%s\"\n" "$header" "$header" |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only \
      -I "$include" -isystem "$eigen" -x c++ - || { echo "not self-contained: $header"; exit 255; }' sh {}

# All in one file, in either order and behind what users include: no two define the same name, and no name of the
# standard library is taken for one of ours.
for order in sort "sort -r"; do
  { printf '#include <iomanip>\n#include <regex>\n'
    find "$include/quarry" -name '*.hpp' ! -name openai.hpp | $order | sed "s,^$include/\(.*\),#include \"\1\","; } |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only \
      -I "$include" -isystem "$eigen" -x c++ -
done
