#!/bin/sh
# How fast do words come out of English text, beside Lucene 9.12 and tantivy? run.sh BENCH_TEXT
#
# BENCH_TEXT is the program of that name. Maven and a JDK, cargo: a peer whose tool is missing is left out. Rounds
# alternate between the programs; medians are printed.
set -eu
bench=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=${TMPDIR:-/tmp}/quarry_peers_text
mkdir -p "$scratch"

# The help centre's articles, ASCII only, repeated to a megabyte: what bench_text calls ascii.
cat "$here"/../../../examples/help_centre/articles/*.md "$here"/../../../examples/help_centre/articles/*/*.md 2>/dev/null |
  LC_ALL=C tr -cd '\000-\177' > "$scratch/once"
: > "$scratch/text"
while [ "$(wc -c < "$scratch/text")" -lt 1000000 ]; do cat "$scratch/once" >> "$scratch/text"; done

lucene= tantivy=
if command -v mvn >/dev/null && command -v javac >/dev/null; then
  mvn -q dependency:copy -Dartifact=org.apache.lucene:lucene-core:9.12.3 -DoutputDirectory="$scratch" >/dev/null
  javac -cp "$scratch/lucene-core-9.12.3.jar" -d "$scratch" "$here/LuceneWords.java"
  lucene=yes
fi
if command -v cargo >/dev/null; then
  cargo build -q --release --manifest-path "$here/tantivy/Cargo.toml" --target-dir "$scratch/cargo"
  tantivy=yes
fi

rate() {  # of one of our cases, in MB/s
  "$bench" --benchmark_filter="^$1\$" --benchmark_format=json --benchmark_min_time=0.5 2>/dev/null |
    sed -n 's/.*"bytes_per_second": \([0-9.e+]*\).*/\1/p' | awk '{ printf "%.1f\n", $1 / 1e6 }'
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] }'; }

rm -f "$scratch"/*.rates
for round in 1 2 3 4 5; do
  rate copy >> "$scratch/copy.rates"
  rate terms/unicode_ascii >> "$scratch/quarry.rates"
  [ -z "$lucene" ] || java -cp "$scratch:$scratch/lucene-core-9.12.3.jar" LuceneWords "$scratch/text" >> "$scratch/lucene.rates"
  [ -z "$tantivy" ] || "$scratch/cargo/release/tantivy_words" "$scratch/text" >> "$scratch/tantivy.rates"
done
ours=$(median "$scratch/quarry.rates")
echo "quarry unicode words, case folded: $ours MB/s"
for peer in copy lucene tantivy; do
  [ -f "$scratch/$peer.rates" ] || continue
  theirs=$(median "$scratch/$peer.rates")
  awk -v peer=$peer -v ours="$ours" -v theirs="$theirs" 'BEGIN { printf "%s: %s MB/s, quarry / %s = %.2f\n", peer, theirs, peer, ours / theirs }'
done
uptime | sed 's/.*load/load/'
