// What quarry_eval searches: indexes of the lanes that were chosen, and the embedder of their vectors.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files.hpp"
#include "quarry/core/key_index.hpp"
#include "quarry/index/bm25_index.hpp"
#include "quarry/index/flat_index.hpp"
#include "quarry/model/embedder.hpp"
#include "settings.hpp"

namespace quarry_eval {

/// Either embedder, behind one type: so that every pipeline is compiled once, and without what fits an embedder.
class chosen_embedder {
   public:
    static constexpr bool zero_means_unknown = true;

    /// Knows nothing.
    chosen_embedder() = default;
    template <quarry::Embedder E>
        requires(!std::same_as<E, chosen_embedder>)
    explicit chosen_embedder(E e) : held_(std::make_shared<const holder<E>>(std::move(e))) {}

    std::size_t dimension() const { return held_ ? held_->dimension() : 1; }
    quarry::callable_identity identity() const { return held_.get(); }
    void embed(quarry::role r, std::span<const std::string_view> texts, std::span<float> rows) const {
        held_->embed(r, texts, rows);
    }

   private:
    struct interface {
        virtual ~interface() = default;
        virtual std::size_t dimension() const = 0;
        virtual void embed(quarry::role r, std::span<const std::string_view> texts, std::span<float> rows) const = 0;
    };
    template <class E>
    struct holder final : interface {
        explicit holder(E e) : embedder(std::move(e)) {}
        std::size_t dimension() const override { return embedder.dimension(); }
        void embed(quarry::role r, std::span<const std::string_view> texts, std::span<float> rows) const override {
            embedder.embed(r, texts, rows);
        }
        E embedder;
    };

    std::shared_ptr<const interface> held_;
};

/// Indexes of the lanes that were chosen; the others are empty. Leaves refer to them, so it must not move.
struct stock {
    chosen_embedder embed;
    std::optional<quarry::indexed<quarry::bm25_index>> key_words, body_words;
    std::optional<quarry::indexed<quarry::bm25_index>> top_words;  // of what stands above the bodies
    std::optional<quarry::indexed<quarry::flat_index>> key_vectors, body_vectors, top_vectors;
    std::vector<std::string> warnings;
};

/// Fills the stock; a tree of extracts is added to the articles where one is searched.
void fill(stock& out, const settings& s, measured_set& set);

}  // namespace quarry_eval
