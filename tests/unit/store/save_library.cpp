#include "quarry/store/save_library.hpp"

#include <map>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/living.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

struct other_name : living::embedder {
    std::string name() const { return "other letters"; }
};

// A library with several parts, removed articles, texts without vectors, and a file of it.
struct saved_library {
    memory_files files{};
    store_options options{.made_with = {{"prompts", "3"}}, .files = &files};
    living::embedder embed{};
    living::library kb{embed, living::layers(), living::options(12)};
    std::map<std::string, article> articles{};
    std::mt19937 random{11};

    explicit saved_library(int count = 12) {
        for (int i = 0; i < count; ++i) change_one(std::to_string(i));
        for (int i = 0; i < count; i += 4) {
            kb.remove(std::to_string(i));
            articles.erase(std::to_string(i));
        }
        CHECK(save("kb", kb, options) == durability::confirmed);
    }
    void change_one(const std::string& id) {
        articles[id] = living::random_article(random, id);
        kb.upsert(articles[id]);
    }
    living::library empty() const { return living::library(embed, living::layers(), living::options(12)); }
    std::string bytes() const { return files.files.at("kb"); }
};

std::string bytes_of_library(const living::library& kb) {
    memory_files files;
    save("kb", kb, {.made_with = {{"prompts", "3"}}, .files = &files});
    return files.files.at("kb");
}

}  // namespace

TEST_CASE("a library that was loaded is the saved one: answers, ids, bytes, and what comes after") {
    saved_library s;
    living::library again = s.empty();
    load("kb", again, s.options);
    CHECK(s.kb.now()->parts() > 1);
    CHECK(again.now()->parts() == s.kb.now()->parts());
    CHECK(bytes_of_library(again) == s.bytes());
    const auto told = [&](const living::library& kb) {
        std::string out;
        for (const query& q : living::questions())
            for (const auto& search :
                 {any_retriever(lexical(kb.now()->bm25())), any_retriever(dense(kb.now()->vectors(1), s.embed))}) {
                const auto found = search.retrieve(q, 9);
                for (const auto& hit : found)
                    out += detail::concat(index_of(hit.unit), ' ', hit.score, ' ', found.explain(hit), ' ',
                                          found.matched(hit)->text, '\n');
            }
        return out;
    };
    CHECK(told(again) == told(s.kb));
    CHECK(told(again).size() > 1000);
    // The same changes on both: the same bytes at every step.
    for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(s.random() % 14);
        const article a = living::random_article(s.random, id);
        for (living::library* kb : {&s.kb, &again}) {
            if (i % 4 == 0)
                kb->remove(id);
            else
                kb->upsert(a);
            if (i == 10) kb->merge();
        }
        REQUIRE(bytes_of_library(again) == bytes_of_library(s.kb));
    }
}

TEST_CASE("an unchanged article is known as such after loading, and its texts need no embedder") {
    saved_library s;
    living::library again = s.empty();
    load("kb", again, s.options);
    s.embed.counted->texts = 0;
    CHECK(again.upsert(s.articles.at("1")).unchanged == 1);
    article changed = s.articles.at("2");
    changed.meta = {{"year", 1999}};
    CHECK(again.upsert(changed).replaced == 1);
    CHECK(s.embed.counted->texts == 0);
}

TEST_CASE("a library of another embedder, layer, grower, schema or analyzer is refused, and holds what it held") {  // 107: chroma 4368
    saved_library s;
    const auto code = [&](auto& kb) {
        kb.upsert({.id = "kept", .text = "what it held"});
        const auto before = kb.now();
        const std::string out = code_of([&] { load("kb", kb, s.options); });
        CHECK((kb.now() == before) == (out != "(no exception)"));
        return out;
    };
    library other(other_name(), living::layers(), living::options());
    CHECK(code(other) == "store.fingerprint");
    std::vector<layer> layers;
    layers.emplace_back(identity{.of = unit_kind::chunk}, "1");
    layers.emplace_back(identity{.of = unit_kind::article, .title_weight = 2.5f}, "2");
    living::library layered(s.embed, layers, living::options());
    CHECK(code(layered) == "store.fingerprint");
    CHECK(message_of([&] { load("kb", layered, s.options); }).find("layer 1 is \"1;") != std::string::npos);
    library_options o = living::options();
    o.grow_version = "chunks 9";
    living::library grown(s.embed, living::layers(), o);
    CHECK(code(grown) == "store.fingerprint");
    o = living::options();
    o.fields.add({"more", field_type::string});
    living::library wider(s.embed, living::layers(), o);
    CHECK(code(wider) == "store.fingerprint");
    o = living::options();
    o.words = plain();
    living::library plainer(s.embed, living::layers(), o);
    CHECK(code(plainer) == "store.fingerprint");
    living::library right = s.empty();
    CHECK(code(right) == "(no exception)");
}

TEST_CASE("a library may keep its rows as half floats, and is then refused by one that keeps floats") {
    library_options o = living::options(2);
    o.vectors.rows = row_format::halves;
    living::library kb({}, living::layers(), o), again({}, living::layers(), o);
    std::mt19937 random(7);
    for (int i = 0; i < 12; ++i) kb.upsert(living::random_article(random, std::to_string(i % 9)));
    kb.merge();
    kb.upsert(living::random_article(random, "3"));
    memory_files files;
    save("kb", kb, {.files = &files});
    load("kb", again, {.files = &files});
    CHECK(bytes_of_library(again) == bytes_of_library(kb));
    for (living::library* each : {&kb, &again}) {
        std::mt19937 same(8);
        const change_report report = each->upsert(living::random_article(same, "4"));
        CHECK(report.replaced == 1);
        each->merge();
    }
    CHECK(bytes_of_library(again) == bytes_of_library(kb));
    const auto found = dense(again.now()->vectors(1), living::embedder{}).retrieve("password", 3);
    CHECK(found.size() == 3);
    living::library floats({}, living::layers(), living::options(2));
    CHECK(code_of([&] { load("kb", floats, {.files = &files}); }) == "store.fingerprint");
}

TEST_CASE("whichever step of saving or loading a library fails, file and library are old or new") {
    saved_library s(5);
    const std::string old = s.bytes();
    s.change_one("new");
    const std::string fresh = bytes_of_library(s.kb);
    bool failed = true;
    for (std::size_t n = 0; failed; ++n) {
        s.files.files = {{"kb", old}};
        s.files.reset(n);
        code_of([&] { save("kb", s.kb, s.options); });
        failed = s.files.failed();
        CHECK((s.bytes() == old || s.bytes() == fresh));
        CHECK(s.files.files.size() == 1);
    }
    CHECK(s.bytes() == fresh);
    living::library again = s.empty();
    const auto before = again.now();
    std::size_t n = 0;
    for (s.files.reset(n); code_of([&] { load("kb", again, s.options); }) == "file.injected"; s.files.reset(++n))
        CHECK(again.now() == before);
    CHECK(n > 10);  // steps of a load
    CHECK(bytes_of_library(again) == fresh);
}

TEST_CASE("a library file that contradicts itself is refused, and any other is what would be written") {
    // Checksums are made right again, so that what is inside is looked at.
    saved_library s(4);
    const std::string whole = s.bytes();
    bytes_file stored(whole);
    container file(stored);
    std::size_t refused = 0, kept = 0;
    for (const section_info& changed : file.sections()) {
        if (changed.name.find("layer 1") != std::string::npos) continue;  // as layer 0
        const std::size_t step = 1 + static_cast<std::size_t>(changed.length / 40);
        for (std::size_t at = 0; at < changed.length; at += step)
            for (const int change : {1, 0x80}) {
                std::string bytes;
                container_writer out([&](std::span<const char> some) { bytes.append(some.data(), some.size()); });
                for (const section_info& section : file.sections()) {
                    std::string text = whole.substr(section.offset, section.length);
                    if (section.name == changed.name) text[at] = static_cast<char>(text[at] ^ change);
                    out.section(section.name);
                    out.append(text.data(), text.size());
                }
                out.finish();
                s.files.files["changed"] = bytes;
                living::library again = s.empty();
                try {
                    load("changed", again, s.options);
                } catch (const error&) {
                    ++refused;
                    CHECK(again.now()->units() == 0);
                    continue;
                }
                ++kept;
                for (const query& q : living::questions()) lexical(again.now()->bm25()).retrieve(q, 5);
                again.upsert({.id = "more", .text = "of it"});
                again.merge();
                living::library once_more = s.empty();
                load("changed", once_more, s.options);
                REQUIRE(bytes_of_library(once_more) == bytes);
            }
    }
    CHECK(refused > 100);
    CHECK(kept > 10);  // letters of a text
}

TEST_CASE("saving beside changes gives files that each are one moment") {
    saved_library s(4);
    std::string last;
    for (int i = 0; i < 5; ++i) {
        const auto moment = s.kb.now();
        s.change_one("x" + std::to_string(i));
        CHECK(moment->articles() + 1 == s.kb.now()->articles());
        save("kb", s.kb, s.options);
        living::library again = s.empty();
        load("kb", again, s.options);
        CHECK(living::difference(*again.now(), s.articles, s.embed) == "");
    }
}
