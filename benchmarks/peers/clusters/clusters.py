"""What scikit-learn makes of the vectors of scifact: the figures that tests/data/clusters.cpp is held to.

    python3 -m venv peers && peers/bin/pip install -r benchmarks/peers/clusters/requirements.txt
    peers/bin/python benchmarks/peers/clusters/clusters.py QUARRY_DATA/scifact/docs.minilm.384.f16
    QUARRY_DATA=... build/release/bin/test_data "k-means is as tight*" -s      prints ours beside them

Inertia is the sum of squared distances to the own centre; both find local optima, and the seed decides which.
"""
import sys

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

rows = np.fromfile(sys.argv[1], dtype=np.float16).reshape(-1, 384).astype(np.float32)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)

for k in (20, 100):
    made = KMeans(k, n_init=3, random_state=0, max_iter=100).fit(rows)
    print(f"k-means, {k:3}: inertia {made.inertia_:.3f}, silhouette {silhouette_score(rows, made.labels_):.5f}")

few = PCA(10, svd_solver="full").fit(rows)
coordinates = few.transform(rows)
print("variances:", *(f"{v:.8f}" for v in few.explained_variance_ * (len(rows) - 1) / len(rows)))
for k, shape in ((5, "full"), (20, "full"), (20, "diag"), (20, "spherical")):
    best = min(GaussianMixture(k, covariance_type=shape, random_state=s).fit(coordinates).bic(coordinates) for s in range(3))
    print(f"mixture, {k:2} {shape}: criterion {best:.1f}")
for k in (1, 2, 3):
    best = min(GaussianMixture(k, random_state=s).fit(coordinates[:400]).bic(coordinates[:400]) for s in range(3))
    print(f"mixture of the first 400 rows, {k}: criterion {best:.1f}")
