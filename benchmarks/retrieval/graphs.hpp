// What bench_hnsw and bench_filter walk: our graph and hnswlib's over the same rows, built, or read from a folder that
// has them from an earlier run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench.hpp"
#include "peer_graph.hpp"
#include "quarry/index/hnsw_index.hpp"
#include "quarry/store/save_hnsw.hpp"

namespace bench {

struct graphs {
    quarry::hnsw_index ours;
    std::unique_ptr<peer_graph> native, plain;  // one graph: as this processor has it, and as a plain build has it
    double seconds = 0.0, peer_seconds = 0.0;   // to build them; 0 for those that were read
};

/// `folder` may be empty: nothing is kept. `set` names the rows there. Peers are left out unless `with_peers`.
inline graphs make_graphs(const vectors& base, std::span<const quarry::unit_id> units, const quarry::hnsw_options& options,
                          const std::string& set, const std::string& folder, bool with_peers) {
    const graph_shape shape{base.n, base.d, options.m, options.ef_construction};
    std::string path = folder.empty() ? std::string() : folder + "/" + set;
    for (const std::size_t x : {shape.n, shape.d, shape.m, shape.construction})
        if (!path.empty()) path += "." + std::to_string(x);

    graphs out{quarry::hnsw_index(base.d, options), nullptr, nullptr};
    const std::string our_path = path + ".quarry", their_path = path + ".hnswlib";
    if (!path.empty() && std::filesystem::exists(our_path)) {
        out.ours = quarry::load_hnsw<quarry::hnsw_index>(our_path, base.d);
    } else {
        out.seconds = milliseconds([&] { out.ours.add(units, base.rows); }) / 1e3;
        if (!path.empty()) quarry::save(our_path, out.ours);
    }
    std::cerr << "ef " << out.ours.ef() << " by recall " << out.ours.measured_recall() << ", built in " << out.seconds << " s\n";
    if (!with_peers) return out;

    out.native = native::hnswlib_graph(shape);
    out.plain = plain::hnswlib_graph(shape);
    const bool is_there = !path.empty() && std::filesystem::exists(their_path);
    if (!is_there) {
        out.peer_seconds = milliseconds([&] {
                               for (std::size_t i = 0; i < base.n; ++i) out.native->add(base.row(i), i);
                           }) /
                           1e3;
        std::cerr << "hnswlib built in " << out.peer_seconds << " s\n";
    }
    const std::filesystem::path kept = path.empty() ? std::filesystem::temp_directory_path() / "quarry.hnswlib" : std::filesystem::path(their_path);
    if (!is_there) out.native->save(kept.string());
    else out.native->load(kept.string());
    out.plain->load(kept.string());
    if (path.empty()) std::filesystem::remove(kept);
    return out;
}

}  // namespace bench
