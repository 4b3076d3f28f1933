#include "quarry/live/merge.hpp"

#include <string>

#include "quarry/live/library.hpp"
#include "support/catch.hpp"
#include "support/living.hpp"

using namespace quarry;

namespace {

std::string bytes_of_part(const detail::library_part& part) {
    std::string out;
    detail::saved<corpus>::write(part.units, detail::byte_writer(out));
    for (const detail::part_layer& l : part.layers) {
        detail::saved<key_table>::write(*l.keys, detail::byte_writer(out));
        detail::saved<bm25_index>::write(*l.words, detail::byte_writer(out));
        detail::saved<flat_index>::write(*l.rows, detail::byte_writer(out));
        for (const auto& name : l.row_texts) out.append(reinterpret_cast<const char*>(name.data()), name.size());
        for (const std::uint32_t row : l.rows_by_unit) out += std::to_string(row) + ' ';
    }
    return out;
}

}  // namespace

TEST_CASE("parts that are merged are byte for byte the part of one change") {
    std::mt19937 random(5);
    std::vector<article> articles;
    for (int i = 0; i < 9; ++i) articles.push_back(living::random_article(random, std::to_string(i)));
    living::library one({}, living::layers(), living::options()), several({}, living::layers(), living::options(1));
    one.upsert_all(articles);
    for (const article& a : articles) several.upsert(a);
    CHECK(several.now()->parts() == 9);
    several.merge();
    REQUIRE(several.now()->parts() == 1);
    CHECK(bytes_of_part(*several.now()->held()[0].part) == bytes_of_part(*one.now()->held()[0].part));
}

TEST_CASE("what is dead is left behind, and the ids of the others stay") {
    living::library kb({}, living::layers(), living::options(1));
    for (const char* id : {"a", "b", "c"})
        kb.upsert({.id = id, .text = std::string("the word ") + id, .meta = {{"product", id}}});
    const unit_id c = *kb.now()->find("c");
    kb.remove("b");
    kb.merge();
    const detail::library_part& part = *kb.now()->held()[0].part;
    CHECK(part.units.size() == 4);
    CHECK(part.articles.size() == 2);
    CHECK(kb.now()->find("c") == c);
    CHECK(part.layers[0].words->document_frequency("b") == 0);
    CHECK(part.layers[0].words->size() == 2);
    CHECK(part.units.values("product").size() == 2);
}
