// A small build that pays for everything a build can pay for, with a journal: a tree of summaries, contexts, questions,
// descriptions of code, and rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include "memory_files.hpp"
#include "quarry/build.hpp"
#include "quarry/core/corpus.hpp"
#include "quarry/expand/code_summary.hpp"
#include "quarry/expand/contextual.hpp"
#include "quarry/expand/identity.hpp"
#include "quarry/expand/questions.hpp"
#include "quarry/grow/raptor.hpp"
#include "quarry/model/cache.hpp"
#include "quarry/model/embedding_cache.hpp"
#include "quarry/store/journal.hpp"
#include "quarry/store/save.hpp"
#include "scripted_generator.hpp"
#include "toy.hpp"

namespace paid {

inline quarry::corpus five_chunks() {
    quarry::corpus c;
    const quarry::unit_id a =
        c.add({.id = "a.cpp", .text = "alpha one. beta two. gamma three. delta four. epsilon five."});
    std::size_t at = 0;
    for (const std::size_t length : {10u, 9u, 12u, 11u, 13u}) {
        c.add_part(a, {.span = {at, at + length}});
        at += length + 1;
    }
    return c;
}

/// Answers with what its prompt is about, after `before`.
inline scripted_generator note_taker(std::function<void()> before = [] {}) {
    return scripted_generator(
        [before](const quarry::prompt& p) {
            before();
            std::string out = "What is said of";
            const std::string passage = p.text().substr(p.text().rfind('<', p.text().rfind("</") - 1));
            for (const char* word : {"alpha", "beta", "gamma", "delta", "epsilon"})
                if (passage.find(word) != std::string::npos) out += ' ' + std::string(word);
            return quarry::completion(out + '?');
        },
        "notes");
}

/// Letters, unless it is the n-th call. Copies share the count.
struct failing_embedder : toy::letter_embedder {
    std::shared_ptr<std::size_t> fails_at = std::make_shared<std::size_t>(0);  // counted from 1; 0: never

    std::string name() const { return "letters"; }
    void embed(quarry::role as, std::span<const std::string_view> texts, std::span<float> rows) const {
        letter_embedder::embed(as, texts, rows);
        if (counted->calls == *fails_at) throw std::runtime_error("no connection");
    }
};

/// What earlier runs paid for, and what this one pays for, in one journal.
struct books {
    explicit books(const std::string& path, quarry::journal_options options = {}) : work(path, options) {
        work.replay(replies, rows);
    }

    quarry::journal work;
    quarry::reply_store replies{[this](const quarry::paid_reply& r) { work.append(r); }};
    quarry::embedding_store rows{[this](std::span<const quarry::paid_embedding> e) { work.append(e); }};
};

/// Builds everything; the bytes of all indexes and of the corpus, as they would be saved.
inline std::string build_all(books& b, const scripted_generator& g, const failing_embedder& letters = {},
                             std::size_t at_once = 1, std::stop_token stop = {}) {
    using namespace quarry;
    const auto model = cached(g, b.replies);
    const auto embed = cached(letters, b.rows);
    const asking_options calls{.at_once = at_once};
    corpus c = five_chunks();
    raptor(embed, summaries(model, {.calls = calls}), {.stop = stop}, window_clusters{.members = 2}).grow(c);
    std::string bytes;
    const auto add = [&](const auto& expander) {
        const build_options options{.batch = 2, .stop = stop};
        memory_files files;
        save("kb", c, build(c, expander, embed, options), embed, {.files = &files});
        bytes += files.files.at("kb");
    };
    add(contextual(model, {.calls = calls}));
    add(questions(model, {.calls = calls}));
    add(code_summary(model, {.calls = calls}));
    add(identity{.of = unit_kind::generated});
    return bytes;
}

}  // namespace paid
