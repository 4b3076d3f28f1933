"""A round of k-means: bench_kmeans, scikit-learn and FAISS in turns, on the same vectors, one thread each.

    python3 -m venv peers && peers/bin/pip install faiss-cpu==1.15.0 scikit-learn
    peers/bin/python benchmarks/peers/clusters/kmeans.py build/bench/bin/bench_kmeans

Milliseconds of processor time a round, medians over three: 100,000 made-up unit vectors of 384, 100 groups. Of peers, that is a
tenth of what eleven take longer than one.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import faiss
import numpy as np
import sklearn
from sklearn.cluster import KMeans

warnings.filterwarnings("ignore")
faiss.omp_set_num_threads(1)
program, d, k = sys.argv[1], 384, 100
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, "--dump", folder], check=True)
    rows = np.fromfile(folder + "/rows.f32", dtype=np.float32).reshape(-1, d)
starts = rows[:k].copy()


def milliseconds(work):
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e3


def a_round(work):
    return (milliseconds(lambda: work(11)) - milliseconds(lambda: work(1))) / 10


def by_faiss(rounds):
    made = faiss.Kmeans(d, k, niter=rounds, spherical=True, max_points_per_centroid=len(rows))
    made.train(rows, init_centroids=starts)


def by_sklearn(rounds):
    KMeans(k, init=starts, n_init=1, max_iter=rounds, tol=0, algorithm="lloyd").fit(rows)


times = {"quarry": [], f"FAISS {faiss.__version__}": [], f"scikit-learn {sklearn.__version__}": []}
for _ in range(3):
    said = subprocess.run([program, "--rounds", "1", "--json"], check=True, stdout=subprocess.PIPE).stdout
    for name, one in zip(times, (json.loads(said)[0]["quarry_ms"], a_round(by_faiss), a_round(by_sklearn))):
        times[name].append(one)
print(f"load {os.getloadavg()[0]:.1f}")
for name, all_times in times.items():
    us, them = statistics.median(times["quarry"]), statistics.median(all_times)
    print(f"{name:20} {them:8.1f} ms a round, {them / us:.1f} times")
