#include "quarry/store/save.hpp"

#include <algorithm>
#include <string>

#include "quarry/expand/identity.hpp"
#include "quarry/expand/metadata_keys.hpp"
#include "quarry/retrieve/dense.hpp"
#include "quarry/retrieve/hybrid.hpp"
#include "quarry/retrieve/lexical.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/memory_files.hpp"
#include "support/stored.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

struct named_embedder : toy::letter_embedder {
    std::string model = "letters";
    std::string name() const { return model; }
    static constexpr bool zero_means_unknown = true;
};

// One unit has words and no letters, so that fewer keys have vectors.
corpus with_digits() {
    corpus c = stored::everything();
    c.add({.id = "digits", .text = "12345"});
    return c;
}

struct saved_pair {
    corpus articles = with_digits();
    named_embedder embed{};
    knowledge_base kb = build(articles, identity{}, embed);
    memory_files files{};
    store_options options{.made_with = {{"chunker", "none"}}, .files = &files};
    load_options reading{};

    saved_pair() {
        static_cast<store_options&>(reading) = options;
        CHECK(save("kb", articles, kb, embed, options) == durability::confirmed);
    }
    std::string code_of_loading() {
        return code_of([&] { load("kb", embed, reading); });
    }
};

template <class Search>
std::string answers(const Search& search) {
    std::string out;
    for (const char* asked : {"password", "how to reset the settings", "passwords of all", "zzz", ""})
        for (const query& q :
             {query(asked), query(asked).where(eq("product", "app")), query(asked).include_generated()}) {
            const auto found = search.retrieve(q, 5);
            for (const auto& hit : found) {
                out += detail::concat(index_of(hit.unit), ' ', hit.score, ' ', found.unit(hit).id(), ' ',
                                      found.explain(hit), '\n');
                if (const auto key = found.matched(hit)) out += key->text;
            }
        }
    return out;
}

}  // namespace

TEST_CASE("a base that was loaded answers byte for byte as the saved one, and saved again gives the same bytes") {
    saved_pair s;
    const auto again = load("kb", s.embed, s.reading);
    const std::string before = answers(hybrid(lexical(s.kb.bm25), dense(s.kb.vectors, s.embed)));
    CHECK(before == answers(hybrid(lexical(again->kb.bm25), dense(again->kb.vectors, s.embed))));
    CHECK(before.size() > 500);
    save("again", again->articles, again->kb, s.embed, s.options);
    CHECK(s.files.files.at("again") == s.files.files.at("kb"));
}

TEST_CASE("a base of words alone, and one whose vectors have fewer keys") {
    memory_files files;
    const corpus articles = stored::everything();
    const lexical_base kb = build(articles, metadata_keys(articles));
    const store_options options{.files = &files};
    save("kb", articles, kb, options);
    load_options reading;
    reading.files = &files;
    const auto again = load_lexical("kb", reading);
    CHECK(answers(lexical(again->kb.bm25)) == answers(lexical(kb.bm25)));
    save("again", again->articles, again->kb, options);
    CHECK(files.files.at("again") == files.files.at("kb"));
    // A file without vectors is no base with vectors.
    CHECK(code_of([&] { load("kb", named_embedder{}, reading); }) == "store.fingerprint");

    saved_pair s;
    CHECK(s.kb.vectors.keys != s.kb.bm25.keys);
    CHECK(container(*s.files.read("kb")).has("keys of vectors"));
    const auto loaded = load("kb", s.embed, s.reading);
    CHECK(loaded->kb.vectors.keys->size() + 1 == loaded->kb.bm25.keys->size());
}

TEST_CASE("a base of vectors alone is saved and loaded like the others, also out of a file that has words") {
    saved_pair s;
    const dense_base kb = build_vectors(s.articles, identity{}, s.embed);
    save("vectors", s.articles, kb, s.embed, s.options);
    const std::string before = answers(dense(kb.vectors, s.embed));
    const auto again = load_dense("vectors", s.embed, s.options);
    CHECK(answers(dense(again->kb.vectors, s.embed)) == before);
    save("again", again->articles, again->kb, s.embed, s.options);
    CHECK(s.files.files.at("again") == s.files.files.at("vectors"));
    CHECK(answers(dense(load_dense("kb", s.embed, s.options)->kb.vectors, s.embed)) == before);
    CHECK(code_of([&] { load("vectors", s.embed, s.reading); }) == "store.section");
    named_embedder other;
    other.model = "others";
    CHECK(code_of([&] { load_dense("vectors", other, s.options); }) == "store.fingerprint");
}

TEST_CASE("the operating system's files carry a base from one program to the next") {
    const temporary_folder folder;
    saved_pair s;
    CHECK(save(folder / "kb", s.articles, s.kb, s.embed) == durability::confirmed);
    const auto again = load(folder / "kb", s.embed);
    CHECK(again->articles.size() == s.articles.size());
    CHECK(code_of([&] { load(folder / "nothing", s.embed); }) == "file.open");
    CHECK(code_of([&] { load(folder.path(), s.embed); }) == "file.open");
}

TEST_CASE("a file of another embedder, width, analyzer or chunker is refused with both names") {
    saved_pair s;
    s.embed.model = "other";
    CHECK(s.code_of_loading() == "store.fingerprint");
    CHECK(message_of([&] {
              load("kb", s.embed, s.reading);
          }).find("embedder is \"letters\", this program's is \"other\"") != std::string::npos);
    s.embed.model = "letters";
    const auto narrow =
        make_embedder(4, [](std::string_view) { return std::vector<float>(4, 1.0f); }, {.name = "letters"});
    CHECK(message_of([&] { load("kb", narrow, s.reading); }).find("dimension is \"26\", this program's is \"4\"") !=
          std::string::npos);
    s.reading.words = plain();
    CHECK(s.code_of_loading() == "store.fingerprint");
    s.reading.words = english();
    s.reading.made_with.set("chunker", "two");
    CHECK(s.code_of_loading() == "store.fingerprint");
    s.reading.made_with.set("chunker", "none");
    CHECK(s.code_of_loading() == "(no exception)");
}

TEST_CASE("a base is saved with the corpus it is over, and with no other") {
    saved_pair s;
    const corpus other = stored::everything();
    CHECK(code_of([&] { save("kb", other, s.kb, s.embed, s.options); }) == "store.foreign");
    CHECK(s.code_of_loading() == "(no exception)");
}

TEST_CASE("every truncation and every flipped bit of a saved base is refused") {
    saved_pair s;
    const std::string whole = s.files.files.at("kb");
    std::size_t accepted = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
        s.files.files["kb"] = whole.substr(0, length);
        accepted += !s.code_of_loading().starts_with("store.");
    }
    CHECK(accepted == 0);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        bytes_file file(damaged);
        accepted += !code_of([&] { container(file).verify(); }).starts_with("store.");
    }
    CHECK(accepted == 0);
}

TEST_CASE("whichever step of a save fails, the old file loads or the new one") {
    saved_pair s;
    const std::string old = s.files.files.at("kb");
    s.articles.replace_metadata(unit_id{0}, {{"product", "changed"}});
    bool failed = true;
    for (std::size_t n = 0; failed; ++n) {
        s.files.files = {{"kb", old}};
        s.files.reset(n);
        const std::string code = code_of([&] { save("kb", s.articles, s.kb, s.embed, s.options); });
        failed = s.files.failed();
        const bool renamed = s.files.done.back() == "sync folder";
        s.files.reset();
        CHECK(code == (failed && !renamed ? "file.injected" : "(no exception)"));
        CHECK(s.files.files.size() == 1);
        const auto again = load("kb", s.embed, s.reading);
        CHECK(again->articles.value(unit_id{0}, "product") ==
              field_value(code == "(no exception)" ? "changed" : "app"));
    }
}

TEST_CASE("a read that fails is an error, and the next one works") {
    saved_pair s;
    s.files.reset();
    CHECK(s.code_of_loading() == "(no exception)");
    const std::size_t steps = s.files.done.size();
    CHECK(steps > 10);
    for (std::size_t n = 0; n < steps; ++n) {
        s.files.reset(n);
        CHECK(s.code_of_loading() == "file.injected");
    }
    s.files.reset();
    CHECK(s.code_of_loading() == "(no exception)");
}

TEST_CASE("ids and titles that look like paths or formats are texts") {
    memory_files files;
    corpus articles;
    for (const char* id : {"../../x", "C:\\x", "%s%n", "/etc/passwd"})
        articles.add({.id = id, .title = id, .text = "word"});
    articles.add({.id = std::string("a\0b", 3), .text = "word"});
    const store_options options{.files = &files};
    save("kb", articles, build(articles, identity{}), options);
    load_options reading;
    reading.files = &files;
    files.reset();
    const auto again = load_lexical("kb", reading);
    CHECK(std::ranges::count(files.done, "open") == 1);
    CHECK(std::ranges::count(files.done, "read") + 1 == static_cast<std::ptrdiff_t>(files.done.size()));
    CHECK(again->articles.find("../../x") == unit_id{0});
    CHECK(again->articles.find(std::string_view("a\0b", 3)) == unit_id{4});
}
