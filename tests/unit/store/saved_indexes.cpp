#include "quarry/store/saved_indexes.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"
#include "support/stored.hpp"

using namespace quarry;

namespace {

template <class T>
std::string written_index(const T& value) {
    std::string bytes;
    detail::saved<T>::write(value, detail::byte_writer(bytes));
    return bytes;
}

bool among_five(unit_id unit) { return index_of(unit) < 5; }

bm25_index read_words(const std::string& bytes, const analyzer& words = english()) {
    return detail::saved<bm25_index>::read(detail::byte_reader(bytes, "bm25"), words, among_five);
}
// What stands in the two sections of rows.
struct written_rows {
    std::string head, matrix;
    friend bool operator==(const written_rows&, const written_rows&) = default;
};
template <class Index>
written_rows written(const Index& index) {
    written_rows out{written_index(index), {}};
    detail::saved<Index>::write_matrix(index, detail::byte_writer(out.matrix));
    return out;
}
template <class Index = flat_index>
Index read_rows(const written_rows& w, std::size_t dimension = 3) {
    return detail::saved<Index>::read(detail::byte_reader(w.head, "vectors"), rest_of_bytes{w.matrix}, dimension,
                                      among_five);
}

// With removed keys, a unit of two keys, weights, stop words, an empty key.
bm25_index words_of_five(bm25_options options = {}) {
    bm25_index index(english(), options);
    index.add(unit_id{0}, "open the settings and choose a new password");
    index.add(unit_id{1}, "gone with the wind");
    const weighted_text fields[] = {{"password", 2.5f}, {"of the account", 0.1f}};
    index.add(unit_id{2}, fields);
    index.add(unit_id{2}, "settings");
    index.remove(unit_id{1});
    index.add(unit_id{4}, "");
    index.add(unit_id{3}, "new password, new account");
    return index;
}

flat_index rows_of_five(row_format rows = row_format::floats) {
    flat_index index(3, {.rows = rows});
    index.add(unit_id{0}, std::vector<float>{1, 2, 3});
    index.add(unit_id{1}, std::vector<float>{1, 0, 0});
    index.add(unit_id{2}, std::vector<float>{-1, .5f, 1e-30f});
    index.add(unit_id{2}, std::vector<float>{1, 2, 3});
    index.remove(unit_id{1});
    index.add(unit_id{4}, std::vector<float>{0, 0, -7});
    return index;
}

}  // namespace

TEST_CASE("an index of words that was read answers bit by bit as the other, and goes on like it") {
    for (const bm25_options& options :
         {bm25_options{}, bm25_options{.positions = false}, bm25_options{.lucene_lengths = true, .one_edit = true}}) {
        bm25_index a = words_of_five(options), b = read_words(written_index(a));
        const auto same = [&] {
            for (const char* asked : {"password", "new settings", "the", "passwort account", "nothing"}) {
                CHECK(a.search(asked, 10) == b.search(asked, 10));
                CHECK(a.bounds({asked}).high == b.bounds({asked}).high);
                const unit_id units[] = {unit_id{4}, unit_id{2}, unit_id{1}};
                CHECK(a.score({asked}, units) == b.score({asked}, units));
            }
            CHECK(a.size() == b.size());
            CHECK(a.most_keys_of_a_unit() == b.most_keys_of_a_unit());
            CHECK(a.counted_keys() == b.counted_keys());
            CHECK(a.average_length() == b.average_length());
            CHECK(written_index(a) == written_index(b));
        };
        same();
        for (bm25_index* each : {&a, &b}) {
            CHECK(each->add(unit_id{1}, "a new settings page") == key_id{6});
            CHECK(each->remove(unit_id{2}) == 2);
            CHECK(each->replace(unit_id{0}, std::vector<weighted_text>{{"password", 1.0f}}) == key_id{7});
        }
        same();
    }
    const bm25_index phrases = read_words(written_index(words_of_five()));
    const std::vector<std::string> phrase{"new password"};
    CHECK(phrases.search({"password", {}, {}, phrase}, 10).size() == 2);
}

TEST_CASE("an index of words of another analyzer is refused with both names") {
    const std::string bytes = written_index(words_of_five());
    CHECK(code_of([&] { read_words(bytes, plain()); }) == "store.fingerprint");
    const std::string message = message_of([&] { read_words(bytes, plain()); });
    CHECK(message.find(english().fingerprint()) != std::string::npos);
    CHECK(message.find(plain().fingerprint()) != std::string::npos);
}

TEST_CASE("an index of rows that was read answers bit by bit as the other, and goes on like it") {
    for (const row_format format : {row_format::floats, row_format::halves}) {
    flat_index a = rows_of_five(format), b = read_rows(written(a));
    const auto same = [&] {
        for (const std::vector<float>& probe : {std::vector<float>{1, 2, 3}, {0, 0, 1}, {-1, 1, 0}}) {
            CHECK(a.search(probe, 10) == b.search(probe, 10));
            CHECK(a.bounds(probe).low == b.bounds(probe).low);
        }
        CHECK(a.most_keys_of_a_unit() == b.most_keys_of_a_unit());
        std::vector<float> x(3), y(3);
        CHECK(a.vector_of(unit_id{2}, x) == b.vector_of(unit_id{2}, y));
        CHECK(x == y);
        CHECK(written(a) == written(b));
    };
    same();
    for (flat_index* each : {&a, &b}) {
        CHECK(each->add(unit_id{3}, std::vector<float>{5, 5, 5}) == key_id{5});
        CHECK(each->remove(unit_id{2}) == 2);
    }
    same();
    }
}

TEST_CASE("rows of another width or scale are refused with both") {
    const written_rows rows = written(rows_of_five());
    CHECK(code_of([&] { read_rows(rows, 4); }) == "store.fingerprint");
    CHECK(message_of([&] { read_rows(rows, 4); }).find("dimension 3, the embedder's have 4") != std::string::npos);
    CHECK(code_of([&] { read_rows<flat_product_index>(rows); }) == "store.fingerprint");
}

TEST_CASE("keys come back with their words") {
    key_table table(key_kind::metadata);
    table.add({unit_id{3}, key_part::title, "a title"});
    table.add({unit_id{1}, key_part::whole, "not kept"});
    const std::string bytes = written_index(table);
    const key_table again = detail::saved<key_table>::read(detail::byte_reader(bytes, "keys"), among_five);
    CHECK(again.kind() == key_kind::metadata);
    REQUIRE(again.size() == 2);
    CHECK(again.unit(key_id{1}) == unit_id{1});
    const corpus none;
    CHECK(again.text(key_id{0}, none) == "a title");
    CHECK(written_index(again) == bytes);
    CHECK(code_of([&] {
              detail::saved<key_table>::read(detail::byte_reader(bytes, "keys"), [](unit_id) { return false; });
          }) == "store.malformed");
}

TEST_CASE("indexes that contradict themselves are refused, and any other is what would be written") {
    const std::string words = written_index(words_of_five());
    CHECK(stored::refuses_or_keeps(words, [](const std::string& changed) {
              const bm25_index index = read_words(changed);
              const std::vector<std::string> phrase{"new password"};
              index.search({"password settings account", {}, {}, phrase}, 10);
              index.search("the new settings", 10);
              return written_index(index);
          }) > words.size());
    for (const row_format format : {row_format::floats, row_format::halves}) {
        const written_rows rows = written(rows_of_five(format));
        const auto rewritten = [](const written_rows& changed) {
            const flat_index index = read_rows(changed);
            index.search(std::vector<float>{1, 2, 3}, 10);
            return written(index);
        };
        CHECK(stored::refuses_or_keeps(rows.head, [&](const std::string& changed) {
                  return rewritten({changed, rows.matrix}).head;
              }) > rows.head.size());
        CHECK(stored::refuses_or_keeps(rows.matrix, [&](const std::string& changed) {
                  return rewritten({rows.head, changed}).matrix;
              }) > rows.matrix.size());
    }
}
