#include "quarry/core/ledger.hpp"

#include "support/catch.hpp"

using namespace quarry;

TEST_CASE("an entry stays at the place it was noted at, however many follow") {
    ledger notes;
    const std::uint32_t first = notes.note({.stage = "bm25", .rank = 1, .raw = 7.5f, .score = 7.5f});
    for (int i = 0; i < 1000; ++i) notes.note({.stage = "other"});
    CHECK(notes.size() == 1001);
    CHECK(notes[first].stage == "bm25");
    CHECK(notes[first].raw == 7.5f);
}

TEST_CASE("from and beside lead to the entries a number was computed from") {
    ledger notes;
    const std::uint32_t words = notes.note({.stage = "bm25", .rank = 1, .score = 3.0f});
    const std::uint32_t meaning = notes.note({.stage = "dense", .rank = 2, .score = 0.5f, .beside = words});
    const std::uint32_t sum = notes.note({.stage = "rrf", .from = meaning});
    CHECK(notes[notes[sum].from].stage == "dense");
    CHECK(notes[notes[notes[sum].from].beside].stage == "bm25");
}

TEST_CASE("an entry that says nothing leads nowhere") {
    const ledger_entry plain{.stage = "x"};
    CHECK(plain.from == no_entry);
    CHECK(plain.beside == no_entry);
    CHECK(plain.key == no_key);
    CHECK(plain.weight == 1.0f);
    CHECK(plain.rank == 0);
}

TEST_CASE("entries that are taken over lead to each other as before") {
    ledger notes, more;
    notes.note({.stage = "first"});
    const std::uint32_t words = more.note({.stage = "bm25"});
    const std::uint32_t meaning = more.note({.stage = "dense", .beside = words});
    const std::uint32_t sum = more.note({.stage = "rrf", .from = meaning});
    const std::uint32_t by = notes.append(more);
    CHECK(by == 1);
    CHECK(notes.size() == 4);
    CHECK(notes[notes[by + sum].from].stage == "dense");
    CHECK(notes[notes[notes[by + sum].from].beside].stage == "bm25");
    CHECK(notes[by + words].from == no_entry);
}
