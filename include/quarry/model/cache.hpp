// Cache: what was paid for is not paid for again.
//
//     reply_store replies(journal);                      // journal: called with every reply as it arrives
//     for (const paid_reply& r : from_last_time) replies.insert(r);
//     const auto model = cached(client, replies);
//
// A reply is remembered under the model's name, the prompt's version and its contents: change one of them and the
// question is a new one. The store does not write files; what `keep` is given is all that a file needs (record.hpp has
// lines of JSON, the store of an index has a journal of its own).
//
// The surprising thing: the same question asked by several threads at once is asked once. The others wait for the
// answer, so the number of calls does not depend on timing.
#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/sha256.hpp"
#include "../detail/text.hpp"
#include "generator.hpp"

namespace QUARRY_NAMESPACE {

/// A reply, and what it is remembered under.
struct paid_reply {
    std::string model;
    std::string version;      // of the prompt; part of its fingerprint, here for people
    detail::digest prompt{};  // its fingerprint
    completion reply{};
};

/// Replies by question. All members may be called from several threads.
class reply_store {
   public:
    using keeper = std::function<void(const paid_reply&)>;

    reply_store() = default;

    /// `keep` is given every new reply before anybody else sees it, one at a time. If it throws, the reply stays in
    /// memory and the call ends with `cancelled`, `cache.not_kept`: to go on would be to pay for what may be lost.
    explicit reply_store(keeper keep) : keep_(std::move(keep)) {}

    reply_store(const reply_store&) = delete;
    reply_store& operator=(const reply_store&) = delete;

    /// Takes in what was kept before; it is not given to `keep` again. A later reply to the same question wins.
    void insert(const paid_reply& r) {
        const std::lock_guard lock(mutex_);
        replies_.insert_or_assign(key_of(r.model, r.prompt), r.reply);
    }

    std::optional<completion> find(std::string_view model, const prompt& p) const {
        const std::lock_guard lock(mutex_);
        const auto found = replies_.find(key_of(model, p.fingerprint()));
        return found == replies_.end() ? std::nullopt : std::optional(found->second);
    }

    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return replies_.size();
    }

    /// The remembered reply, or that of `ask`, which is then remembered.
    ///
    /// Errors  whatever `ask` throws, to the one who called it; those who waited try themselves. `cancelled`,
    ///         `generator.stopped`, when stopped while waiting.
    template <std::invocable<> Ask>
    completion find_or(std::string_view model, const prompt& p, const std::stop_token& stop, Ask ask);

   private:
    struct hash {
        std::size_t operator()(const detail::digest& d) const noexcept {
            std::size_t h = 0;
            std::memcpy(&h, d.data(), sizeof h);
            return h;
        }
    };

    static detail::digest key_of(std::string_view model, const detail::digest& prompt) noexcept {
        return detail::sha256().add_field(model).add_field(prompt).finish();
    }

    mutable std::mutex mutex_;
    std::condition_variable_any answered_;
    std::unordered_map<detail::digest, completion, hash> replies_;
    std::unordered_set<detail::digest, hash> asked_;  // and not answered yet
    std::mutex keeping_;
    keeper keep_;
};

/// `generator`, asked only what the store does not know. The store must outlive it.
///
/// The model's name is the generator's; for one that has none it must be given, or two models' replies would be mixed.
///
/// Errors  usage_error `cache.model`; those of reply_store; whatever the generator throws.
template <Generator G>
class cached_generator {
   public:
    cached_generator(G generator, reply_store& store, std::string model)
        : generator_(std::move(generator)), store_(&store), model_(std::move(model)) {
        if (model_.empty()) model_ = detail::generator_name(generator_);
        if (model_.empty())
            detail::raise<usage_error>("cache.model",
                                       "quarry::cached: the generator has no name(), so the model's name, "
                                       "under which replies are remembered, must be given");
    }

    completion operator()(const prompt& p, std::stop_token stop = {}) const {
        return store_->find_or(model_, p, stop, [&] { return generate(generator_, p, stop); });
    }

    /// Would this be answered without a call?
    bool remembers(const prompt& p) const { return store_->find(model_, p).has_value(); }

    const std::string& name() const noexcept { return model_; }

   private:
    G generator_;
    reply_store* store_;
    std::string model_;
};

template <Generator G>
cached_generator<G> cached(G generator, reply_store& store, std::string model = {}) {
    return cached_generator<G>(std::move(generator), store, std::move(model));
}

// ------------------------------------------------------------------------------------------------------------- detail

template <std::invocable<> Ask>
completion reply_store::find_or(std::string_view model, const prompt& p, const std::stop_token& stop, Ask ask) {
    const detail::digest key = key_of(model, p.fingerprint());
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (const auto found = replies_.find(key); found != replies_.end()) {
                completion reply = found->second;
                reply.remembered = true;
                return reply;
            }
            if (asked_.insert(key).second) break;
            if (!answered_.wait(lock, stop, [&] { return !asked_.contains(key); }))
                detail::raise<cancelled>("generator.stopped",
                                         "quarry::cached: stopped while somebody else asked the same");
        }
    }
    // From here on this thread is the one who asks, whatever happens.
    struct release {
        reply_store& store;
        const detail::digest& key;
        ~release() {
            const std::lock_guard lock(store.mutex_);
            store.asked_.erase(key);
            store.answered_.notify_all();
        }
    } const at_the_end{*this, key};

    const completion reply = ask();
    std::string failure;
    if (keep_ && !reply.remembered) {
        const std::lock_guard lock(keeping_);
        try {
            keep_({std::string(model), std::string(p.version()), p.fingerprint(), reply});
        } catch (const std::exception& e) {
            failure = e.what();
            if (failure.empty()) failure = "an exception without words";
        } catch (...) {
            failure = "something that is no std::exception";
        }
    }
    {
        const std::lock_guard lock(mutex_);
        const auto stored = replies_.insert_or_assign(key, reply).first;
        stored->second.remembered = false;
    }
    if (!failure.empty())
        detail::raise<cancelled>("cache.not_kept", "quarry::cached: a reply could not be kept: " + failure);
    return reply;
}

}  // namespace QUARRY_NAMESPACE
