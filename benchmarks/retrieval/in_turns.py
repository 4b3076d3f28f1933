"""Two builds of one benchmark in turns: is one faster than the other?

    python3 benchmarks/retrieval/in_turns.py build/a/bin/bench_flat build/b/bin/bench_flat --rounds 3 -- --n 30000 --peers 0

Runs each with what stands behind `--` and `--json`, A B A B, and prints for every case the median of each and their ratio. A case's
figures are those whose names say milliseconds or microseconds, but for clocks on the wall.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("a")
parser.add_argument("b")
parser.add_argument("--rounds", type=int, default=3)
own, _, rest = " ".join(sys.argv[1:]).partition(" -- ")
options = parser.parse_args(own.split())


def figures(program):
    said = json.loads(subprocess.run([program, *rest.split(), "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    for number, case in enumerate(said if isinstance(said, list) else [said]):
        words = [str(v) for k, v in case.items() if k in ("bench", "pipeline", "batch", "ef", "selectivity", "of", "correlated")]
        for name, value in case.items():
            if (name.endswith("_ms") or name in ("us", "ms")) and "wall" not in name and isinstance(value, (int, float)):
                yield (number, " ".join([*words, name])), value


times = {}
for _ in range(options.rounds):
    for which, program in enumerate((options.a, options.b)):
        for case, value in figures(program):
            times.setdefault(case, ([], []))[which].append(value)
print(f"load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
for (_, name), both in times.items():
    a, b = map(statistics.median, both)
    print(f"{name:60} {a:10.4f} {b:10.4f}   {a / b if b else 0:5.2f}")
