#!/bin/sh
# Misuses must not compile and must say why: misuse.sh COMPILER ALL INCLUDE EIGEN TESTS CASES...
#
# Each case holds one and its twin, divided by #ifdef or #ifndef MISUSE, and a line "// says: phrase" with words the
# compiler has to print. ALL includes them all, so that the library is read once: every case must be named in the
# messages, and every phrase stand there, as often as cases have it. That the twins compile is checked beside this.
set -eu
compiler=$1 all=$2 include=$3 eigen=$4 tests=$5
shift 5
said=$(mktemp)
trap 'rm -f "$said"' EXIT
case $compiler in
  *clang*) every=-ferror-limit=0 ;;
  *) every=-fmax-errors=0 ;;
esac
if "$compiler" -std=c++20 -fsyntax-only $every -I "$include" -I "$tests" -isystem "$eigen" -DMISUSE "$all" 2>"$said"; then
  echo "no misuse fails to compile"
  exit 1
fi
for file in "$@"; do
  grep -q '^#ifn\{0,1\}def MISUSE$' "$file" || { echo "$file has no misuse"; exit 1; }
  phrase=$(sed -n 's,^// says: ,,p' "$file")
  [ -n "$phrase" ] || { echo "$file has no line '// says: phrase'"; exit 1; }
  grep -qF "$file:" "$said" || { echo "the misuse in $file compiles"; exit 1; }
  wanted=$(grep -lF "// says: $phrase" "$@" | wc -l)
  found=$(grep -cF "$phrase" "$said" || true)
  [ "$found" -ge "$wanted" ] || { head -n 60 "$said"; echo "the message on $file does not say: $phrase"; exit 1; }
done
echo "$# misuses are refused, each with its words"
