#!/bin/sh
# Two files with different -m flags in one program, linked in both orders, at every level of this processor: the bodies
# are the right ones and the scores have the same bits. two_flags.sh COMPILER INCLUDE SOURCES SCRATCH
set -eu
compiler=$1 include=$2 sources=$3 scratch=$4
if ! grep -qw avx2 /proc/cpuinfo || ! grep -qw fma /proc/cpuinfo; then
  echo "not run: this processor has no AVX2"
  exit 0
fi
mkdir -p "$scratch"
"$compiler" -std=c++20 -O2 -I "$include" -DPART=plain_part -c "$sources/part.cpp" -o "$scratch/plain.o"
"$compiler" -std=c++20 -O2 -mavx2 -mfma -I "$include" -DPART=flagged_part -c "$sources/part.cpp" -o "$scratch/flagged.o"
"$compiler" -std=c++20 -O2 -c "$sources/main.cpp" -o "$scratch/main.o"
"$compiler" "$scratch/main.o" "$scratch/plain.o" "$scratch/flagged.o" -o "$scratch/plain_first"
"$compiler" "$scratch/main.o" "$scratch/flagged.o" "$scratch/plain.o" -o "$scratch/flagged_first"
for level in baseline avx2 avx512 vnni; do
  for order in plain_first flagged_first; do
    QUARRY_SIMD=$level "$scratch/$order"
  done
done > "$scratch/said"
cat "$scratch/said"
test "$(cut -d' ' -f2 "$scratch/said" | sort -u | wc -l)" = 1 || { echo "levels differ"; exit 1; }
test "$(head -1 "$scratch/said" | cut -d' ' -f1)" = baseline
