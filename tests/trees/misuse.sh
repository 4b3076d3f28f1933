#!/bin/sh
# A misuse must not compile and must say why; its twin must compile: compile_pair.sh COMPILER FILE INCLUDE EIGEN TESTS
#
# The file holds both, divided by #ifdef MISUSE, and a line "// says: phrase" with words the compiler has to print.
set -eu
compiler=$1 file=$2 include=$3 eigen=$4 tests=$5
phrase=$(sed -n 's,^// says: ,,p' "$file")
[ -n "$phrase" ] || { echo "$file has no line '// says: phrase'"; exit 1; }
compile() { "$compiler" -std=c++20 -fsyntax-only -I "$include" -I "$tests" -isystem "$eigen" "$@" "$file" 2>&1; }

compile || { echo "the twin of the misuse does not compile"; exit 1; }
if output=$(compile -DMISUSE); then
  echo "the misuse compiles"
  exit 1
fi
case $output in
  *"$phrase"*) ;;
  *) printf '%s\n' "$output" | head -n 40
     echo "the message does not say: $phrase"
     exit 1 ;;
esac
