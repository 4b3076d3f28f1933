// Memory that runs out at every place of every operation on a library, its file and its journal: the state is then the
// old one or the new one, and the next try works.
#include <random>
#include <string>

#include "quarry/store/journal.hpp"
#include "quarry/store/save_library.hpp"
#include "quarry/store/save_vectors.hpp"
#include "support/catch.hpp"
#include "support/failing_new.hpp"
#include "support/living.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

article told_in(const std::string& id, const std::string& text) {
    return {.id = id,
            .title = "Title " + id,
            .text = text,
            .links = {{"https://example.org"}},
            .meta = {{"product", text}}};
}

std::string bytes_now(const living::library& kb) {
    memory_files files;
    save("kb", kb, {.files = &files});
    return files.files.at("kb");
}

// Two parts, one article removed.
void fill(living::library& kb) {
    kb.upsert_all(
        {told_in("a", "reset the password. it is long"), told_in("b", "a bill lists charges"), told_in("c", "12345")});
    kb.upsert(told_in("d", "the valve regulates heating"));
    kb.remove("b");
}

// Lets the n-th allocation of `work` fail, for every n until none is left. Returns how many there were.
template <class Work>
std::size_t at_every_allocation(living::library& kb, Work work) {
    const std::string old = bytes_now(kb);
    living::library twin({}, living::layers(), living::options(1));
    fill(twin);
    work(twin);
    const std::string fresh = bytes_now(twin);
    REQUIRE(old != fresh);
    for (std::size_t n = 0;; ++n) {
        const auto before = kb.now();
        const bool reached = failing_new::fails_at(n, [&] { work(kb); });
        if (!reached) {
            CHECK(bytes_now(kb) == fresh);
            return n;
        }
        if (kb.now() == before) continue;  // a generation never changes, so this is the old state
        REQUIRE(bytes_now(kb) == fresh);
        return n;
    }
}

}  // namespace

TEST_CASE("memory that runs out while a library changes leaves it as it was") {
    const auto over = [](auto work) {
        living::library kb({}, living::layers(), living::options(1));
        fill(kb);
        return at_every_allocation(kb, work);
    };
    CHECK(over([](auto& kb) { kb.upsert(told_in("e", "new and not yet there")); }) > 100);
    CHECK(over([](auto& kb) { kb.upsert(told_in("a", "reset it")); }) > 100);
    CHECK(over([](auto& kb) { kb.remove("a"); }) > 20);
    CHECK(over([](auto& kb) { kb.merge(); }) > 50);
    CHECK(over([](auto& kb) {
              change c;
              c.upsert = {told_in("c", "other"), told_in("f", "more")};
              c.remove = {"d"};
              kb.apply(c);
          }) > 100);
}

TEST_CASE("memory that runs out while a library is saved leaves the old file or the new one") {
    living::library kb({}, living::layers(), living::options(1));
    fill(kb);
    memory_files files;
    const store_options options{.files = &files};
    save("kb", kb, options);
    const std::string old = files.files.at("kb");
    kb.upsert(told_in("e", "new"));
    const std::string fresh = bytes_now(kb);
    std::size_t n = 0;
    while (failing_new::fails_at(n, [&] { save("kb", kb, options); })) {
        ++n;
        const std::string there = files.files.at("kb");
        REQUIRE((there == old || there == fresh));
        REQUIRE(files.files.size() == 1);
        files.files["kb"] = old;
        files.reset();
    }
    CHECK(files.files.at("kb") == fresh);
    CHECK(n > 20);
}

TEST_CASE("memory that runs out while a library is loaded leaves the library as it was") {
    living::library kb({}, living::layers(), living::options(1)), again({}, living::layers(), living::options(1));
    fill(kb);
    memory_files files;
    const store_options options{.files = &files};
    save("kb", kb, options);
    again.upsert(told_in("x", "what it held"));
    const auto before = again.now();
    std::size_t n = 0;
    while (failing_new::fails_at(n, [&] { load("kb", again, options); })) {
        ++n;
        REQUIRE(again.now() == before);
        files.reset();
    }
    CHECK(bytes_now(again) == files.files.at("kb"));
    CHECK(n > 100);
}

TEST_CASE("loading vectors, or articles with their words and vectors, holds at most twice the file and a constant") {
    memory_files files;  // which hands out a copy of its file, as no other file system does
    const store_options options{.files = &files};
    std::mt19937 random(1);
    constexpr std::size_t constant = 1 << 20;
    for (const row_format format : {row_format::floats, row_format::halves}) {
        flat_index index(384, {.rows = format});
        std::vector<float> row(384);
        for (std::size_t i = 0; i < 8000; ++i) {
            for (float& x : row) x = static_cast<float>(random() % 1000) - 500.0f;
            index.add(unit_at(i), row);
        }
        save("vectors", index, options);
        const std::size_t size = files.files.at("vectors").size(), copied = size;
        const std::size_t held =
            failing_new::most_held_by([&] { load_vectors<flat_index>("vectors", 384, options); }) - copied;
        INFO(name_of(format) << ": " << held << " bytes for a file of " << size);
        CHECK(held <= 2 * size + constant);
        files.files.clear();
    }
    corpus articles;
    const auto word = [&] { return "word" + std::to_string(random() % 3000); };
    for (int i = 0; i < 400; ++i) {
        article a{.id = std::to_string(i), .title = word()};
        for (int n = 0; n < 200; ++n) a.text += word() + ' ';
        articles.add(std::move(a));
    }
    const auto rows = make_embedder(384, [](std::string_view text) {
        std::vector<float> out(384, 1.0f);
        out[text.size() % 384] = 9.0f;
        return out;
    }, {.name = "lengths"});
    save("kb", articles, build(articles, identity{}, rows), rows, options);
    load_options reading;
    reading.files = &files;
    const std::size_t size = files.files.at("kb").size();
    const std::size_t held = failing_new::most_held_by([&] { load("kb", rows, reading); }) - size;
    INFO(held << " bytes for a file of " << size);
    CHECK(held <= 2 * size + constant);
    CHECK(held > size / 2);  // it was counted
}

TEST_CASE("memory that runs out while a journal is appended to has appended nothing") {
    memory_files files;
    journal work("work", {.files = &files});
    const std::vector<paid_embedding> rows{{"letters", role::document, detail::sha256_of("text"), {1.0f, 2.0f}}};
    std::size_t n = 0;
    while (failing_new::fails_at(n, [&] { work.append(rows); })) {
        ++n;
        files.reset();
    }
    CHECK(n > 2);
    std::size_t read = 0;
    read_journal(
        files.files.at("work"), [](const paid_reply&) {}, [&](const paid_embedding&) { ++read; });
    CHECK(read == 1);
}
