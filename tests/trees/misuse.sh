#!/bin/sh
# A misuse must not compile and must say why: misuse.sh COMPILER FILE INCLUDE EIGEN TESTS
#
# The file holds it and its twin, divided by #ifdef or #ifndef MISUSE, and a line "// says: phrase" with words the compiler has to
# print. That the twins compile is checked for all of them together.
set -eu
compiler=$1 file=$2 include=$3 eigen=$4 tests=$5
phrase=$(sed -n 's,^// says: ,,p' "$file")
[ -n "$phrase" ] || { echo "$file has no line '// says: phrase'"; exit 1; }
grep -q '^#ifn\{0,1\}def MISUSE$' "$file" || { echo "$file has no misuse"; exit 1; }

if output=$("$compiler" -std=c++20 -fsyntax-only -I "$include" -I "$tests" -isystem "$eigen" -DMISUSE "$file" 2>&1); then
  echo "the misuse compiles"
  exit 1
fi
case $output in
  *"$phrase"*) ;;
  *) printf '%s\n' "$output" | head -n 40
     echo "the message does not say: $phrase"
     exit 1 ;;
esac
