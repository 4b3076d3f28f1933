// Compiled twice: PEER_BUILD is `native`, with what this processor has, or `plain`. PEER_FILTERS: it has filters.
#include "peer_graph.hpp"

// Each with names of its own, or the linker would take one for both, and for what the library itself includes.
#define PEER_JOINED(a, b) a##b
#define PEER_NAMED(a, b) PEER_JOINED(a, b)
#define hnswlib PEER_NAMED(hnswlib_, PEER_BUILD)
#include <hnswlib/hnswlib.h>

namespace bench::PEER_BUILD {
namespace {

class graph final : public peer_graph {
   public:
    explicit graph(const graph_shape& shape)
        : space_(shape.d),
          graph_(std::make_unique<built>(&space_, shape.n, shape.m, shape.construction)) {}

    void add(const float* row, std::size_t label) override { graph_->addPoint(row, label); }
    void save(const std::string& path) override { graph_->saveIndex(path); }
    void load(const std::string& path) override { graph_ = std::make_unique<built>(&space_, path); }
    void walk_with(std::size_t ef) override { graph_->setEf(ef); }

    std::vector<std::uint32_t> search(const float* probe, std::size_t k) const override {
        return labels(graph_->searchKnn(probe, k));
    }

#if PEER_FILTERS
    bool filters() const override { return true; }
    std::vector<std::uint32_t> search(const float* probe, std::size_t k, const std::uint64_t* bits) const override {
        struct allowed final : ::hnswlib::BaseFilterFunctor {
            explicit allowed(const std::uint64_t* words) : words_(words) {}
            bool operator()(::hnswlib::labeltype label) override { return (words_[label / 64] >> (label % 64) & 1) != 0; }
            const std::uint64_t* words_;
        } filter(bits);
        return labels(graph_->searchKnn(probe, k, &filter));
    }
#else
    bool filters() const override { return false; }
    std::vector<std::uint32_t> search(const float*, std::size_t, const std::uint64_t*) const override { return {}; }
#endif

   private:
    using built = ::hnswlib::HierarchicalNSW<float>;

    template <class Queue>
    static std::vector<std::uint32_t> labels(Queue found) {
        std::vector<std::uint32_t> out;
        for (out.reserve(found.size()); !found.empty(); found.pop())
            out.push_back(static_cast<std::uint32_t>(found.top().second));
        return out;
    }

    ::hnswlib::InnerProductSpace space_;
    std::unique_ptr<built> graph_;
};

}  // namespace

std::unique_ptr<peer_graph> hnswlib_graph(const graph_shape& shape) { return std::make_unique<graph>(shape); }

}  // namespace bench::PEER_BUILD
