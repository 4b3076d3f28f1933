// Any retriever: the one erased type, for pipelines that are chosen at run time.
//
// Its scale is unknown, so no floor compiles on it: put floors on before erasing. Copies share what they hold.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "../config.hpp"
#include "../core/retriever.hpp"

namespace QUARRY_NAMESPACE {

class any_retriever : public retriever_interface<any_retriever> {
   public:
    using scale = unknown_scale;

    // The first condition keeps the copy constructor from asking whether any_retriever is a Retriever while it is made.
    template <class R>
        requires(!std::same_as<R, any_retriever> && Retriever<R>)
    any_retriever(R retriever) : held_(std::make_shared<const holder<R>>(std::move(retriever))) {}  // NOLINT: implicit

    source_ref source() const { return held_->source(); }
    void prepare(std::span<request> batch) const { held_->prepare(batch); }
    results<scale> run(request& q, std::size_t k) const { return held_->run(q, k); }

   private:
    struct interface {
        virtual ~interface() = default;
        virtual source_ref source() const = 0;
        virtual void prepare(std::span<request> batch) const = 0;
        virtual results<scale> run(request& q, std::size_t k) const = 0;
    };

    template <class R>
    struct holder final : interface {
        explicit holder(R r) : retriever(std::move(r)) {}
        source_ref source() const override { return retriever.source(); }
        void prepare(std::span<request> batch) const override { detail::prepare(retriever, batch); }
        results<scale> run(request& q, std::size_t k) const override {
            const auto found = retriever.run(q, k);
            results<scale> out;
            out.state = found.state;
            out.hits.reserve(found.size());
            for (const auto& h : found) out.hits.push_back({h.unit, h.via, h.score, h.trail});
            return out;
        }
        R retriever;
    };

    std::shared_ptr<const interface> held_;
};

}  // namespace QUARRY_NAMESPACE
