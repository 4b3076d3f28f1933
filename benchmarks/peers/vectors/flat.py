"""Exact search: bench_flat and FAISS in turns, on the same vectors, one thread each.

    python3 -m venv peers && peers/bin/pip install -r benchmarks/peers/vectors/requirements.txt
    peers/bin/python benchmarks/peers/vectors/flat.py build/release/bin/bench_flat [--n 100000] [--data QUARRY_DATA/ann_minilm]

Milliseconds of processor time a query, medians over rounds. FAISS 1.15 scans once a query below nq * d = 128000 and
calls BLAS above, so it is measured with the batch as asked for and with enough repetitions of it for BLAS.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import faiss
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--n", type=int, default=100000)
parser.add_argument("--d", type=int, default=384)
parser.add_argument("--k", type=int, default=10)
parser.add_argument("--queries", type=int, default=64)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--data", default="")
options = parser.parse_args()
faiss.omp_set_num_threads(1)

shared = ["--n", str(options.n), "--d", str(options.d), "--k", str(options.k), "--queries", str(options.queries),
          "--batch", str(options.batch)] + (["--data", options.data] if options.data else [])
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([options.program, *shared, "--dump", folder], check=True)
    base = np.fromfile(folder + "/base.f32", dtype=np.float32).reshape(-1, options.d)
    queries = np.fromfile(folder + "/queries.f32", dtype=np.float32).reshape(-1, options.d)
index = faiss.IndexFlatIP(options.d)
index.add(base)


def milliseconds(search, count):
    begin = time.process_time()
    search()
    return (time.process_time() - begin) * 1e3 / count


def one_by_one():
    for i in range(options.queries):
        index.search(queries[i:i + 1], options.k)


ours, peer = {}, {}
for _ in range(options.rounds):
    said = subprocess.run([options.program, *shared, "--rounds", "3", "--checked", "2", "--peers", "0", "--json"],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    for case in json.loads(said):
        assert case["mismatches"] == 0, case
        ours.setdefault((case["bench"], case["batch"]), []).append(case["quarry_ms"])
    peer.setdefault("one query", []).append(milliseconds(one_by_one, options.queries))
    together = queries[:options.batch]
    peer.setdefault("batch, as it comes", []).append(milliseconds(lambda: index.search(together, options.k), len(together)))
    blocks = np.concatenate([together] * (1 + 512 // max(1, len(together))))
    peer.setdefault("batch, through BLAS", []).append(milliseconds(lambda: index.search(blocks, options.k), len(blocks)))

with open("/proc/cpuinfo") as cpu:
    model = next(line.split(":")[1].strip() for line in cpu if line.startswith("model name"))
print(f"{model}; load {os.getloadavg()[0]:.2f}; FAISS {faiss.__version__} ({faiss.get_compile_options().strip()}); "
      f"OPENBLAS_CORETYPE {os.environ.get('OPENBLAS_CORETYPE', 'not set')}; n {len(base)}, d {options.d}, k {options.k}")
for name, times in {**{f"quarry {b}, batch {m}": t for (b, m), t in ours.items()},
                    **{f"FAISS {n}": t for n, t in peer.items()}}.items():
    print(f"{name:45} {statistics.median(times):9.4f} ms a query   (of {len(times)} rounds, best {min(times):.4f})")
