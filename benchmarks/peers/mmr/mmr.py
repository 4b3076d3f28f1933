"""Maximal marginal relevance: bench_mmr and langchain-core's function in turns, on the same vectors, one thread each.

    python3 -m venv peers && peers/bin/pip install -r benchmarks/peers/mmr/requirements.txt
    peers/bin/python benchmarks/peers/mmr/mmr.py build/bench/bin/bench_mmr

Milliseconds of processor time a question, medians over rounds: ten of a hundred and of a thousand, 384 dimensions. Ours is
given the relevances, which whoever searched has; the function computes them, one of its k + 1 products of matrices.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from langchain_core.vectorstores.utils import maximal_marginal_relevance

program, d, questions, rounds = sys.argv[1], 384, 50, 3
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, "--dump", folder], check=True)
    probes = np.fromfile(folder + "/queries.f32", dtype=np.float32).reshape(questions, d)
    rows = {n: np.fromfile(f"{folder}/rows{n}.f32", dtype=np.float32).reshape(questions, n, d) for n in (100, 1000)}

ours, peer = {n: [] for n in rows}, {n: [] for n in rows}
for _ in range(rounds):
    for case in json.loads(subprocess.run([program, "--rounds", "3", "--json"], check=True, stdout=subprocess.PIPE).stdout):
        assert case["mismatches"] == 0, case
        ours[case["n"]].append(case["quarry_ms"])
    for n, candidates in rows.items():
        begin = time.process_time()
        for probe, own in zip(probes, candidates):
            maximal_marginal_relevance(probe, own, lambda_mult=0.5, k=10)
        peer[n].append((time.process_time() - begin) * 1e3 / questions)

print(f"langchain-core {version('langchain-core')}, numpy {np.__version__}, load {os.getloadavg()[0]:.1f}")
for n in rows:
    us, them = statistics.median(ours[n]), statistics.median(peer[n])
    print(f"10 of {n}: quarry {us:.4f} ms, langchain-core {them:.2f} ms, {them / us:.0f} times")
