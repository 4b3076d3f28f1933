#include "quarry/store/save_vectors.hpp"

#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

constexpr std::size_t width = 40;

// More rows than one block holds, two of them of one unit, one removed.
flat_index many_rows(row_format format) {
    flat_index index(width, {.rows = format});
    std::mt19937 random(1);
    std::vector<float> row(width);
    for (std::size_t i = 0; i < 4000; ++i) {
        for (float& x : row) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
        index.add(unit_at(i % 3999), row);
    }
    index.remove(unit_at(7));
    return index;
}

store_options in(memory_files& files, std::string model = "model-a") {
    store_options out{{{"embedder", std::move(model)}}};
    out.files = &files;
    return out;
}

}  // namespace

TEST_CASE("vectors that were loaded answer bit by bit as the saved ones, and saved again give the same bytes") {
    for (const row_format format : {row_format::floats, row_format::halves}) {
        memory_files files;
        const flat_index index = many_rows(format);
        save("vectors", index, in(files));
        flat_index again = load_vectors<flat_index>("vectors", width, in(files));
        CHECK(again.rows().format() == format);
        const std::vector<float> probe(width, 0.5f);
        CHECK(again.search(probe, 50) == index.search(probe, 50));
        CHECK(again.bounds(probe).low == index.bounds(probe).low);
        CHECK(again.most_keys_of_a_unit() == 2);
        save("again", again, in(files));
        CHECK(files.files.at("again") == files.files.at("vectors"));
        CHECK(again.add(unit_id{7}, probe) == key_id{4000});
        CHECK(again.search(probe, 1).front().unit == unit_id{7});
    }
}

TEST_CASE("vectors of another embedder, width or scale are refused with both names") {
    memory_files files;
    save("vectors", many_rows(row_format::floats), in(files));
    CHECK(message_of([&] {
              load_vectors<flat_index>("vectors", width, in(files, "model-b"));
          }).find("embedder is \"model-a\", this program's is \"model-b\"") != std::string::npos);
    CHECK(code_of([&] { load_vectors<flat_index>("vectors", width + 1, in(files)); }) == "store.fingerprint");
    CHECK(code_of([&] { load_vectors<flat_product_index>("vectors", width, in(files)); }) == "store.fingerprint");
}

TEST_CASE("damaged vectors are refused for their checksum, whatever the damage made of a row") {
    memory_files files;
    save("vectors", many_rows(row_format::floats), in(files));
    const std::string whole = files.files.at("vectors");
    // The largest exponent makes a row infinite; a low bit leaves it a row that could be.
    for (const std::size_t at : {whole.size() / 2 / 4 * 4 + 3, whole.size() / 2 / 4 * 4}) {
        files.files["vectors"][at] = static_cast<char>(whole[at] ^ 0x7F);
        CHECK(code_of([&] { load_vectors<flat_index>("vectors", width, in(files)); }) == "store.checksum");
        files.files["vectors"] = whole;
    }
    files.files["vectors"].resize(whole.size() / 2);
    CHECK(code_of([&] { load_vectors<flat_index>("vectors", width, in(files)); }) == "store.truncated");
}
