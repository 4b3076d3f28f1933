// Groups of real vectors, against another implementation.
//
// scikit-learn 1.9.1 on the 5,183 rows of `docs.minilm.384.f16` of scifact, scaled to length 1:
// KMeans(k, n_init=3, random_state=0, max_iter=100) and silhouette_score; GaussianMixture(k, random_state=s), the best
// criterion of s = 0, 1, 2, on PCA(10, svd_solver="full"). Both find local optima: a per cent is their play.
#include "quarry/math/gaussian_mixture.hpp"
#include "quarry/math/kmeans.hpp"
#include "data/sets.hpp"

using namespace quarry;

namespace {

constexpr std::size_t width_of_minilm = 384;

std::vector<float> rows_of_scifact() {
    std::vector<std::string> ids;
    for (int i = 0; i < 5183; ++i) ids.push_back(std::to_string(i));
    const auto given = given_vectors::read(data::path_of("scifact/docs.minilm.384.f16"), std::move(ids));
    std::vector<float> rows(given.rows().begin(), given.rows().end());
    for (std::size_t i = 0; i < given.size(); ++i)
        normalize(std::span(rows).subspan(i * width_of_minilm, width_of_minilm));
    return rows;
}

}  // namespace

TEST_CASE("k-means is as tight on real vectors as scikit-learn's, and its groups as apart") {
    if (!data::measured("scifact/docs.minilm.384.f16", data::weight::heavy)) return;
    const std::vector<float> rows = rows_of_scifact();
    struct figure {
        std::size_t clusters;
        double inertia, silhouette;
    };
    for (const figure& f : {figure{20, 3579.643, .03244}, figure{100, 3043.779, .04207}})
        for (const bool spherical : {false, true}) {
            const clustering c = kmeans(rows, width_of_minilm, {.clusters = f.clusters, .spherical = spherical});
            const double apart = silhouette(rows, width_of_minilm, c.cluster_of);
            WARN(f.clusters << (spherical ? " spherical" : " Euclidean") << ": inertia " << c.inertia << " ("
                            << f.inertia << "), silhouette " << apart << " (" << f.silhouette << ")");
            CHECK(c.inertia <= 1.01 * f.inertia);
            CHECK(apart >= .99 * f.silhouette);
        }
}

TEST_CASE("principal components and mixtures are as likely on real vectors as scikit-learn's") {
    if (!data::measured("scifact/docs.minilm.384.f16", data::weight::heavy)) return;
    const std::vector<float> rows = rows_of_scifact();
    const reduced_rows few = principal_components(rows, width_of_minilm, 10);
    REQUIRE(few.dimension == 10);
    const double variances[] = {.06706381, .03229751, .0294586,  .02702698, .02121121,
                                .02015718, .01626937, .0154365, .0137651,  .01358706};
    for (std::size_t v = 0; v < 10; ++v) {
        double squares = 0.0;
        for (std::size_t i = 0; i < 5183; ++i) squares += few.coordinates[i * 10 + v] * few.coordinates[i * 10 + v];
        CHECK(squares / 5183 == data::near(variances[v], 2e-5));
    }
    struct figure {
        std::size_t components;
        covariance shape;
        double criterion;
    };
    for (const figure& f :
         {figure{5, covariance::full, -61238.3}, figure{20, covariance::full, -62645.2},
          figure{20, covariance::diagonal, -61817.4}, figure{20, covariance::spherical, -61391.7}}) {
        double least = 0.0;
        for (const std::uint64_t seed : {1u, 2u, 3u})
            least = (std::min)(
                least,
                fit_mixture(few.coordinates, 10, f.components, {.shape = f.shape, .seed = seed}).bic(few.coordinates));
        WARN(f.components << " components: criterion " << least << " (" << f.criterion << ")");
        CHECK(least <= f.criterion + .01 * std::abs(f.criterion));
    }
    // Of the first 400 rows: two components, by a criterion of -3715.1 against -3455.5 for one and -3695.0 for three.
    const std::span first = std::span(few.coordinates).first(4000);
    CHECK(mixture_by_bic(first, 10, {.most = 11}).size() == 2);
}
