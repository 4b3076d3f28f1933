#!/usr/bin/env bash
# Processor seconds, the least of three runs: query_side.cpp, and what it includes alone.
#
#     CXX=g++ bash benchmarks/compile/run.sh [-O2]
set -euo pipefail
cd "$(dirname "$0")"
CXX=${CXX:-g++}
LEVEL=${1:--O0}
TIMEFORMAT=%U

seconds() {
    for _ in 1 2 3; do
        { time "$CXX" -std=c++20 "$LEVEL" -I../../include -c -x c++ - -o /dev/null < "$1"; } 2>&1
    done | sort -n | head -1
}

headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
grep '^#include' query_side.cpp > "$headers"
echo "$("$CXX" --version | head -1), $LEVEL, load $(cut -d' ' -f1 /proc/loadavg)"
echo "the headers alone  $(seconds "$headers") s"
echo "with the pipeline  $(seconds query_side.cpp) s"
