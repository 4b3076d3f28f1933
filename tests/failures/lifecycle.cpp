// Stores and changing indexes as they fail elsewhere: cases 21 to 23 and 103 to 114 of a catalogue of public failures. Of
// these 107, 109 and 110 stand in tests/unit/store and tests/faults, and 115 to 120, of threads, in tests/threads/library.cpp.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "quarry/retrieve/whole_article.hpp"
#include "quarry/store/save_library.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/living.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

living::library new_library(std::size_t merge_limit = 4) {
    return {living::embedder{}, living::layers(), living::options(merge_limit)};
}
std::unique_ptr<living::library> some_library(int articles, unsigned seed = 1) {
    auto kb = std::make_unique<living::library>(living::embedder{}, living::layers(), living::options(4));
    std::mt19937 random(seed);
    for (int i = 0; i < articles; ++i) kb->upsert(living::random_article(random, std::to_string(i)));
    return kb;
}

std::string file_of(const living::library& kb) {
    memory_files files;
    save("kb", kb, {.files = &files});
    return files.files.at("kb");
}
std::string code_of_loading(const std::string& bytes, living::library& into) {
    memory_files files;
    files.files["kb"] = bytes;
    return code_of([&] { load("kb", into, {.files = &files}); });
}

std::vector<std::string> titles_with(const generation& g, const query& q) {
    std::vector<std::string> out;
    const auto found = whole_article(lexical(g.bm25(1))).retrieve(q, 10);
    for (const auto& hit : found) out.emplace_back(found.unit(hit).title());
    return out;
}

}  // namespace

TEST_CASE("what is left after most was removed is found, nothing after all was, and then what comes") {  // 21: hnswlib 4
    living::library kb = new_library();
    change all;
    for (int i = 0; i < 60; ++i)
        all.upsert.push_back({.id = std::to_string(i), .text = i < 30 ? "heating valve" : "monthly invoice"});
    kb.apply(all);
    change half;
    for (int i = 0; i < 30; ++i) half.remove.push_back(std::to_string(i));
    kb.apply(half);
    const auto dense_now = [&] { return dense(kb.now()->vectors(1), living::embedder{}).retrieve("heating valve", 5); };
    CHECK(dense_now().size() == 5);
    CHECK(lexical(kb.now()->bm25(1)).retrieve("heating valve", 5).size() == 0);
    half.remove.clear();
    for (int i = 30; i < 60; ++i) half.remove.push_back(std::to_string(i));
    kb.apply(half);
    CHECK(dense_now().size() == 0);
    kb.upsert({.id = "new", .text = "a valve"});
    REQUIRE(dense_now().size() == 1);
    CHECK(lexical(kb.now()->bm25(1)).retrieve("valve", 5).size() == 1);
}

TEST_CASE("the same id twice is an update, or in one change an error that changes nothing") {  // 22: hnswlib 160, chroma 295
    living::library kb = new_library();
    kb.upsert({.id = "1", .title = "first", .text = "password"});
    kb.upsert({.id = "1", .title = "second", .text = "password"});
    CHECK(kb.now()->articles() == 1);
    CHECK(titles_with(*kb.now(), "password") == std::vector<std::string>{"second"});
    const auto before = kb.now();
    for (const auto& ids : {std::vector<std::string>{"7", "7"}, {"7", "8", "7"}}) {
        change c;
        for (const std::string& id : ids) c.upsert.push_back({.id = id, .text = "router"});
        CHECK(code_of([&] { kb.apply(c); }) == "library.duplicate_id");
    }
    CHECK(kb.now() == before);
}

TEST_CASE("an article that is removed and added again is there once, and nothing of its past") {  // 23: chroma 1265
    living::library kb = new_library();
    kb.upsert({.id = "other", .title = "other", .text = "invoice"});
    for (int i = 0; i < 10; ++i) {
        kb.remove("x");
        const std::string number = std::to_string(i);
        kb.upsert({.id = "x",
                   .title = number,
                   .text = std::string(1, static_cast<char>('a' + i)) + " state" + number,
                   .meta = {{"year", 2000 + i}}});
        const auto now = kb.now();
        CHECK(now->articles() == 2);
        CHECK(titles_with(*now, query("state" + number)) == std::vector<std::string>{number});
        CHECK(titles_with(*now, query("state" + std::to_string(i - 1))).empty());
        CHECK(titles_with(*now, query("state" + number).where(eq("year", 2000 + i))).size() == 1);
        CHECK(titles_with(*now, query("state" + number).where(eq("year", 1999 + i))).empty());
        const auto near = dense(now->vectors(1), living::embedder{}).retrieve(query(number + " a state"), 5);
        CHECK(near.size() == 2);
    }
}

TEST_CASE("what is cut off, no file, or not to be read is refused, and the library holds what it held") {  // 103, 105
    const std::string whole = file_of(*some_library(20));
    living::library kb = new_library();
    kb.upsert({.id = "held", .text = "password"});
    const auto before = kb.now();
    std::map<std::string, std::size_t> codes;
    for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
        ++codes[code_of_loading(whole.substr(0, length), kb)];
    for (std::size_t length = whole.size() - 200; length < whole.size(); ++length)
        ++codes[code_of_loading(whole.substr(0, length), kb)];
    CHECK(codes.size() == 2);
    CHECK(codes["store.not_ours"] > 0);
    CHECK(codes["store.truncated"] > 300);
    const temporary_folder folder;
    CHECK(code_of([&] { load(folder.path(), kb); }) == "file.open");
    CHECK(code_of([&] { load(folder / "nothing", kb); }) == "file.open");
    CHECK(kb.now() == before);

    // Other kinds of files are told from other versions.
    const auto with = [&](std::size_t at, std::string_view bytes) {
        return std::string(whole).replace(at, bytes.size(), bytes);
    };
    CHECK(code_of_loading("", kb) == "store.not_ours");
    CHECK(code_of_loading("\x89PNG\r\n\x1a\n, an image", kb) == "store.not_ours");
    CHECK(code_of_loading(std::string(8, '\0') + whole, kb) == "store.not_ours");  // as hnswlib's begin
    CHECK(code_of_loading(with(12, std::string_view("\2\0\0\0", 4)), kb) == "store.version");
    CHECK(code_of_loading(with(12, std::string_view("\0\0\0\0", 4)), kb) == "store.version");
    // 108: written by a machine that stores numbers the other way round.
    CHECK(code_of_loading(with(8, "\1\2\3\4"), kb) == "store.byte_order");
    CHECK(kb.now() == before);
}

TEST_CASE("changed bytes anywhere are noticed before anything is used") {  // 104: laurus 786, tantivy 400
    const std::string whole = file_of(*some_library(6));
    living::library kb = new_library();
    std::mt19937 random(4);
    std::size_t accepted = 0;
    for (int round = 0; round < 1500; ++round) {
        std::string changed = whole;
        for (std::size_t n = 1 + random() % 4; n != 0; --n)
            changed[random() % changed.size()] = static_cast<char>(random());
        accepted += changed != whole && !code_of_loading(changed, kb).starts_with("store.");
    }
    CHECK(accepted == 0);
}

TEST_CASE("sizes that cannot be are refused before memory is asked for") {  // 106: faiss 5400, 5313; turbovec 108
    const auto refused = [](std::uint64_t width, std::uint64_t count) {
        std::string head;
        detail::byte_writer<std::string> out(head);
        out.text(cosine_scale::name);
        out.number(width);
        out.number(std::uint8_t{0});
        out.number(std::uint32_t{1});
        out.number(count);
        return code_of([&] {
            detail::saved<flat_index>::read({head, "rows"}, rest_of_bytes{"0123"}, static_cast<std::size_t>(width),
                                            [](unit_id) { return true; });
        });
    };
    for (const std::uint64_t count : {std::uint64_t{1} << 61, std::uint64_t{1} << 40, UINT64_MAX, std::uint64_t{2}})
        CHECK(refused(8, count) == "store.malformed");
    CHECK(refused(0, 0) == "store.fingerprint");
    CHECK(refused(std::uint64_t{1} << 31, 0) == "store.malformed");  // four bytes that are no row
    std::string text;
    detail::byte_writer<std::string>(text).number(std::uint64_t{1} << 63);
    CHECK(code_of([&] { detail::byte_reader(text, "text").text(); }) == "store.malformed");
}

TEST_CASE("a library that was loaded goes on as the one that was saved, step by step") {  // 111: turbovec 303, usearch 353
    const auto original = some_library(30);
    living::library loaded = new_library();
    REQUIRE(code_of_loading(file_of(*original), loaded) == "(no exception)");
    CHECK(file_of(loaded) == file_of(*original));
    std::mt19937 random(5);
    for (int step = 0; step < 60; ++step) {
        change c;
        for (std::size_t i = 0; i < 3; ++i) {
            const std::string id = std::to_string(3 * (random() % 20) + i);
            if (random() % 3 == 0) c.remove.push_back(id);
            else c.upsert.push_back(living::random_article(random, id));
        }
        original->apply(c);
        loaded.apply(c);
        const auto asked = living::questions();
        const query& q = asked[random() % asked.size()];
        const auto answers = [&](const generation& g) {
            return living::ask(hybrid(lexical(g.bm25()), dense(g.vectors(), living::embedder{})), q, 8).hits;
        };
        REQUIRE(answers(*original->now()) == answers(*loaded.now()));
    }
    CHECK(file_of(loaded) == file_of(*original));
}

TEST_CASE("a part that is missing in a file is an error when it is loaded") {  // 112: langchain 14643
    const std::string whole = file_of(*some_library(6));
    bytes_file stored(whole);
    const container file(stored);
    living::library kb = new_library();
    for (const section_info& missing : file.sections()) {
        std::string bytes;
        container_writer out([&](std::span<const char> some) { bytes.append(some.data(), some.size()); });
        for (const section_info& s : file.sections()) {
            if (s.name == missing.name) continue;
            out.section(s.name);
            out.append(whole.data() + s.offset, static_cast<std::size_t>(s.length));
        }
        out.finish();
        INFO(missing.name);
        CHECK(code_of_loading(bytes, kb) == "store.section");
    }
    CHECK(kb.now()->articles() == 0);
}

TEST_CASE("ids that look like paths or formats are ids, and loading opens the one file that it was told") {  // 114
    const std::string ids[] = {"../../x", "C:\\x", std::string("a\0b", 3), "%s%n", "kb"};
    living::library kb = new_library(), again = new_library();
    for (const std::string& id : ids) kb.upsert({.id = id, .title = id, .text = "one two", .links = {{id}}});
    memory_files files;
    save("kb", kb, {.files = &files});
    files.reset();
    load("kb", again, {.files = &files});
    CHECK(std::ranges::count(files.done, "open") == 1);
    CHECK(files.files.size() == 1);
    for (const std::string& id : ids) CHECK(again.now()->title(again.now()->find(id).value()) == id);
}

TEST_CASE("a file beyond four gigabytes has its places in 64 bits") {  // 113: nmslib 184, hnswlib 574
    // A file whose middle, five gigabytes of one section, is only thought of.
    constexpr std::uint64_t huge = std::uint64_t{5} << 30;
    struct gap_file final : readable_file {
        std::string begin, end;
        std::uint64_t size() override { return begin.size() + huge + end.size(); }
        void read(std::uint64_t offset, std::span<char> bytes) override {
            for (char& c : bytes) {
                c = offset < begin.size() ? begin[offset] : offset < begin.size() + huge ? 'x' : end[offset - begin.size() - huge];
                ++offset;
            }
        }
    } large;
    std::string small;
    container_writer out([&](std::span<const char> some) { small.append(some.data(), some.size()); });
    out.section("huge");
    out.section("last");
    out.append("behind it", 9);
    out.finish();
    // Its header, then the last section as it was, and table and trailer with the numbers that the gap makes of theirs.
    std::string table;
    detail::byte_writer<std::string> to(table);
    to.count(2);
    to.text("huge");
    for (const std::uint64_t x : {std::uint64_t{64}, huge, std::uint64_t{0}}) to.number(x);
    to.text("last");
    for (const std::uint64_t x : {64 + huge, std::uint64_t{9}, detail::xxh64_of(std::string_view("behind it"))}) to.number(x);
    std::string trailer = small.substr(small.size() - 64);
    const std::uint64_t at = 128 + huge, numbers[] = {at, table.size(), detail::xxh64_of(table), at + table.size() + 64};
    for (std::size_t i = 0; i < 4; ++i) detail::store(trailer.data() + 8 * i, numbers[i]);
    detail::store(trailer.data() + 56, detail::xxh64_of(std::string_view(trailer).substr(0, 56)));
    large.begin = small.substr(0, 64);
    large.end = small.substr(64, 64) + table + trailer;
    container file(large);
    CHECK(file.sections()[1].offset == 64 + huge);
    detail::byte_reader last = file.read("last");
    CHECK(last.left() == 9);
    CHECK(last.number<std::uint8_t>() == 'b');
    section_stream first = file.stream("huge");
    CHECK(first.left() == huge);
}
