#include "quarry/model/embedding_cache.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

std::vector<float> embedded(const auto& embedder, role as, const std::vector<std::string_view>& texts) {
    return detail::embed_checked(embedder, as, texts);
}

}  // namespace

TEST_CASE("a text is paid for once, whatever batches it comes in, and its row is the embedder's") {
    const toy::letter_embedder letters;
    embedding_store store;
    const auto embed = cached(letters, store);
    const auto direct = embedded(letters, role::document, {"cat", "dog", "cat", "cow"});
    letters.counted->texts = 0;
    CHECK(embedded(embed, role::document, {"cat", "dog", "cat", "cow"}) == direct);
    CHECK(letters.counted->texts == 3);
    CHECK(embedded(embed, role::document, {"cow", "cat"}) == embedded(letters, role::document, {"cow", "cat"}));
    CHECK(letters.counted->texts == 5);  // two of them asked directly
    CHECK(embed.remembers(role::document, "dog"));
    CHECK_FALSE(embed.remembers(role::query, "dog"));
    embedded(embed, role::query, {"dog"});
    CHECK(letters.counted->texts == 6);
    CHECK(store.size() == 4);
}

TEST_CASE("rows of two embedders, or of two widths, do not meet") {
    embedding_store store;
    const auto constant = [](std::size_t d, float x, std::string name) {
        return make_embedder(d, [d, x](std::string_view) { return std::vector<float>(d, x); },
                             {.name = std::move(name)});
    };
    embedded(cached(constant(2, 1.0f, "a"), store), role::document, {"text"});
    CHECK(embedded(cached(constant(2, 2.0f, "b"), store), role::document, {"text"}) == std::vector<float>{2.0f, 2.0f});
    CHECK(embedded(cached(constant(3, 3.0f, "a"), store), role::document, {"text"}) == std::vector<float>(3, 3.0f));
    CHECK(embedded(cached(constant(2, 9.0f, "a"), store), role::document, {"text"}) == std::vector<float>{1.0f, 1.0f});
}

TEST_CASE("new rows are kept before they are used, a call at a time, and what was inserted is not kept again") {
    std::vector<std::size_t> kept;
    embedding_store store([&](std::span<const paid_embedding> paid) { kept.push_back(paid.size()); });
    store.insert({"embedder", role::document, detail::sha256_of("old"), std::vector<float>(26, 1.0f)});
    const auto embed = cached(toy::letter_embedder(), store);
    embedded(embed, role::document, {"old", "new", "newer"});
    embedded(embed, role::document, {"new"});
    embedded(embed, role::document, {"newest"});
    CHECK(kept == std::vector<std::size_t>{2, 1});
}

TEST_CASE("what cannot be kept ends the call, and was not paid for in vain") {
    bool full = true;
    const toy::letter_embedder letters;
    embedding_store store([&](std::span<const paid_embedding>) {
        if (full) throw std::runtime_error("disk full");
    });
    const auto embed = cached(letters, store);
    CHECK(code_of([&] { embedded(embed, role::document, {"cat"}); }) == "cache.not_kept");
    full = false;
    embedded(embed, role::document, {"cat"});
    CHECK(letters.counted->calls == 1);
}

TEST_CASE("an embedder that fails is remembered for nothing") {
    embedding_store store;
    const auto wrong = make_embedder(2, [](std::string_view text) {
        return text == "bad" ? std::vector<float>{0.0f, 0.0f} : std::vector<float>{1.0f, 0.0f};
    });
    const auto embed = cached(wrong, store);
    CHECK(code_of([&] { embedded(embed, role::document, {"good", "bad"}); }) == "embedder.zero_vector");
    CHECK(store.size() == 0);
    embedded(embed, role::document, {"good"});
    CHECK(store.size() == 1);
}
