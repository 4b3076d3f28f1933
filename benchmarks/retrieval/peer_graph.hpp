// hnswlib as a peer: its own graph and its own search, compiled twice, for this processor and as a plain build has it.
//
// Files of this library must not see it as it is compiled for one processor, so it stands behind this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct graph_shape {
    std::size_t n, d, m, construction;
};

class peer_graph {
   public:
    virtual ~peer_graph() = default;
    virtual void add(const float* row, std::size_t label) = 0;
    virtual void save(const std::string& path) = 0;
    virtual void load(const std::string& path) = 0;
    virtual void walk_with(std::size_t ef) = 0;
    /// Labels, the nearest last.
    virtual std::vector<std::uint32_t> search(const float* probe, std::size_t k) const = 0;
    /// Whether it has filters: since version 0.7.
    virtual bool filters() const = 0;
    /// The same of labels whose bit is set. Requires  filters().
    virtual std::vector<std::uint32_t> search(const float* probe, std::size_t k, const std::uint64_t* bits) const = 0;
};

namespace native {
std::unique_ptr<peer_graph> hnswlib_graph(const graph_shape& shape);
}
namespace plain {
std::unique_ptr<peer_graph> hnswlib_graph(const graph_shape& shape);
}

}  // namespace bench
