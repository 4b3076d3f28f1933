// Embedding cache: a text that was embedded once is not embedded again.
//
//     embedding_store rows([&](std::span<const paid_embedding> paid) { work.append(paid); });   // store/journal.hpp
//     const auto embed = cached(client, rows);
//
// A row is remembered under the embedder's name, its width, the role and the text. The store does not write files; what
// `keep` is given is all that a file needs. It holds every row in memory: for questions that repeat, and for a build
// that was interrupted, not instead of an index.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/sha256.hpp"
#include "../detail/text.hpp"
#include "embedder.hpp"

namespace QUARRY_NAMESPACE {

/// A row, and what it is remembered under.
struct paid_embedding {
    std::string embedder;
    role as = role::document;
    detail::digest text{};  // SHA-256 of the text
    std::vector<float> row{};
};

/// Rows by text. All members may be called from several threads.
class embedding_store {
   public:
    using keeper = std::function<void(std::span<const paid_embedding>)>;

    embedding_store() = default;

    /// `keep` is given the new rows of every call of an embedder before anybody else sees them, one call at a time. If
    /// it throws, the rows stay in memory and the call ends with `cancelled`, `cache.not_kept`: to go on would be to
    /// pay for what may be lost.
    explicit embedding_store(keeper keep) : keep_(std::move(keep)) {}

    embedding_store(const embedding_store&) = delete;
    embedding_store& operator=(const embedding_store&) = delete;

    /// Takes in what was kept before; it is not given to `keep` again. A later row of the same text wins.
    void insert(const paid_embedding& e) {
        const std::lock_guard lock(mutex_);
        rows_.insert_or_assign(key_of(e.embedder, e.row.size(), e.as, e.text), e.row);
    }

    bool contains(std::string_view embedder, std::size_t dimension, role as, std::string_view text) const {
        const std::lock_guard lock(mutex_);
        return rows_.contains(key_of(embedder, dimension, as, detail::sha256_of(text)));
    }

    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return rows_.size();
    }

    /// Writes the row if it is remembered; says whether it is.
    bool find(std::string_view embedder, role as, std::string_view text, std::span<float> row) const {
        const detail::digest key = key_of(embedder, row.size(), as, detail::sha256_of(text));
        const std::lock_guard lock(mutex_);
        const auto found = rows_.find(key);
        if (found == rows_.end()) return false;
        std::ranges::copy(found->second, row.begin());
        return true;
    }

    /// Takes in what was just paid for, and has it kept.
    void add(std::span<const paid_embedding> paid);

   private:
    struct hash {
        std::size_t operator()(const detail::digest& d) const noexcept {
            std::size_t h = 0;
            std::memcpy(&h, d.data(), sizeof h);
            return h;
        }
    };

    static detail::digest key_of(std::string_view embedder, std::size_t dimension, role as,
                                 const detail::digest& text) {
        return detail::sha256()
            .add_field(embedder)
            .add_field(detail::concat(dimension, as == role::query ? " query" : " document"))
            .add_field(text)
            .finish();
    }

    mutable std::mutex mutex_;
    std::unordered_map<detail::digest, std::vector<float>, hash> rows_;
    std::mutex keeping_;
    keeper keep_;
};

/// `embedder`, asked only for texts that the store does not know, each once. The store must outlive it.
///
/// Errors  those of detail::embed_checked and of embedding_store. What the embedder throws loses nothing that was paid.
template <Embedder E>
class cached_embedder {
   public:
    cached_embedder(E embedder, embedding_store& store) : embedder_(std::move(embedder)), store_(&store) {}

    std::size_t dimension() const { return embedder_.dimension(); }
    std::string name() const { return detail::embedder_name(embedder_); }
    callable_identity identity() const noexcept { return token_.get(); }
    bool reads_whole(std::string_view text) const { return detail::reads_whole(embedder_, text); }
    static constexpr bool zero_means_unknown = detail::zero_means_unknown<E>;

    /// Would this text be embedded without a call?
    bool remembers(role as, std::string_view text) const { return store_->contains(name(), dimension(), as, text); }

    void embed(role as, std::span<const std::string_view> texts, std::span<float> rows) const {
        const std::size_t d = dimension();
        const std::string embedder = name();
        std::vector<std::string_view> missing;
        std::unordered_map<std::string_view, std::size_t> place;  // of a missing text
        std::vector<std::size_t> wanted;                          // rows that wait for one
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (store_->find(embedder, as, texts[i], rows.subspan(i * d, d))) continue;
            wanted.push_back(i);
            if (place.try_emplace(texts[i], missing.size()).second) missing.push_back(texts[i]);
        }
        if (missing.empty()) return;
        const std::vector<float> bought = detail::embed_checked(embedder_, as, missing, d);
        std::vector<paid_embedding> paid;
        for (std::size_t i = 0; i < missing.size(); ++i) {
            const auto row = bought.begin() + static_cast<std::ptrdiff_t>(i * d);
            paid.push_back({embedder, as, detail::sha256_of(missing[i]), {row, row + static_cast<std::ptrdiff_t>(d)}});
        }
        store_->add(paid);
        for (const std::size_t i : wanted)
            std::ranges::copy(paid[place.find(texts[i])->second].row, rows.subspan(i * d, d).begin());
    }

   private:
    E embedder_;
    embedding_store* store_;
    detail::identity_token token_;
};

template <Embedder E>
cached_embedder<E> cached(E embedder, embedding_store& store) {
    return cached_embedder<E>(std::move(embedder), store);
}

// ------------------------------------------------------------------------------------------------------------- detail

inline void embedding_store::add(std::span<const paid_embedding> paid) {
    std::string failure;
    if (keep_) {
        const std::lock_guard lock(keeping_);
        try {
            keep_(paid);
        } catch (const std::exception& e) {
            failure = e.what();
            if (failure.empty()) failure = "an exception without words";
        } catch (...) {
            failure = "something that is no std::exception";
        }
    }
    for (const paid_embedding& e : paid) insert(e);
    if (!failure.empty())
        detail::raise<cancelled>("cache.not_kept", "quarry::cached: embeddings could not be kept: " + failure);
}

}  // namespace QUARRY_NAMESPACE
