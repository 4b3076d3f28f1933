#!/bin/sh
# How long does BM25 take beside Lucene 9.12? run.sh BENCH_BM25 (Maven and a JDK are needed)
#
# The same 200,000 texts and questions, top 10, one thread, processes in turns; medians of three, in processor time of
# the thread that searches.
set -eu
bench=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=${TMPDIR:-/tmp}/quarry_peers_bm25
mkdir -p "$scratch"
mvn -q dependency:copy -Dartifact=org.apache.lucene:lucene-core:9.12.3 -DoutputDirectory="$scratch" >/dev/null
jar=$scratch/lucene-core-9.12.3.jar
javac -cp "$jar" -d "$scratch" "$here/LuceneBm25.java"
rm -f "$scratch"/ours "$scratch"/theirs
for round in 1 2 3; do
  "$bench" --write "$scratch" --rounds 5 | sed -n 's/^bm25 \([AB]\)[^0-9]*\([0-9.]*\) us.*/\1 \2/p' >> "$scratch/ours"
  java -Xmx4g -cp "$scratch:$jar" LuceneBm25 "$scratch" 10 >> "$scratch/theirs"
done
for case in A B; do
  median() { awk -v c=$case '$1 == c { print $2 }' "$1" | sort -n | sed -n 2p; }
  awk -v c=$case -v ours="$(median "$scratch/ours")" -v theirs="$(median "$scratch/theirs")" \
    'BEGIN { printf "%s: quarry %.1f us, Lucene 9.12.3 %.1f us, ratio %.1f\n", c, ours, theirs, theirs / ours }'
done
uptime | sed 's/.*load/load/'
