#include "quarry/model/embedder.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/toy.hpp"

using namespace quarry;

namespace {

using texts_span = std::span<const std::string_view>;
using rows_type = std::vector<std::vector<float>>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// "3" becomes 3, 13, 103 and 1003: a row says which text it belongs to.
std::vector<float> row_of(std::string_view text) {
    const float number = static_cast<float>(text.back() - '0');
    return {number, number + 10, number + 100, number + 1000};
}

const std::vector<std::string_view>& digits() {
    static const std::vector<std::string_view> texts{"1", "2", "3", "4", "5"};
    return texts;
}

template <class E>
std::vector<float> rows(const E& embedder, role r = role::document, texts_span texts = digits()) {
    std::vector<float> out(texts.size() * embedder.dimension());
    embedder.embed(r, texts, out);
    return out;
}

std::vector<float> right_rows() {
    std::vector<float> out;
    for (const std::string_view text : digits())
        for (const float x : row_of(text)) out.push_back(x);
    return out;
}

// Returns given rows, whatever it is asked.
auto stub(rows_type given) {
    return make_embedder(4, [given](texts_span) { return given; }, {.name = "stub", .batch = 0});
}
auto flat_stub(std::vector<float> given) {
    return make_embedder(4, [given](texts_span) { return given; }, {.name = "stub", .batch = 0});
}

template <class E>
std::string checked_code(const E& embedder, texts_span texts = digits()) {
    return code_of([&] { detail::embed_checked(embedder, role::document, texts); });
}
template <class E>
std::string checked_message(const E& embedder, texts_span texts = digits()) {
    return message_of([&] { detail::embed_checked(embedder, role::document, texts); });
}

struct raw_embedder {
    std::vector<float> given;  // what it writes; the rest it leaves as it was
    std::size_t dimension() const { return 4; }
    void embed(role, texts_span, std::span<float> out) const { std::ranges::copy(given, out.begin()); }
};

struct silent_embedder : raw_embedder {
    static constexpr bool zero_means_unknown = true;
};

// Fails when it is entered twice at once, and takes long enough for that to happen.
struct fragile {
    std::shared_ptr<std::atomic<int>> inside = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> collisions = std::make_shared<std::atomic<int>>(0);

    std::vector<float> operator()(std::string_view text) {
        if (inside->fetch_add(1) != 0) ++*collisions;
        const std::vector<float> row = row_of(text);
        std::this_thread::yield();
        inside->fetch_sub(1);
        return row;
    }
};

}  // namespace

TEST_CASE(
    "a function over one text or over many, with or without the role, with rows or flat, makes the same embedder") {
    const auto many = [](texts_span texts) {
        rows_type out;
        for (const std::string_view text : texts) out.push_back(row_of(text));
        return out;
    };
    CHECK(rows(make_embedder(4, [](std::string_view text) { return row_of(text); })) == right_rows());
    CHECK(rows(make_embedder(4, [](role, std::string_view text) { return row_of(text); })) == right_rows());
    CHECK(rows(make_embedder(4, many)) == right_rows());
    CHECK(rows(make_embedder(4, [&](role, texts_span texts) { return many(texts); })) == right_rows());
    CHECK(rows(make_embedder(4, [&](texts_span texts) {
              std::vector<float> flat;
              for (const auto& row : many(texts)) flat.insert(flat.end(), row.begin(), row.end());
              return flat;
          })) == right_rows());
}

TEST_CASE("rows may be any ranges of numbers that convert to float, lists and arrays and doubles among them") {
    CHECK(rows(make_embedder(4, [](std::string_view text) {
              const auto row = row_of(text);
              return std::list<double>(row.begin(), row.end());
          })) == right_rows());
    CHECK(rows(make_embedder(4, [](texts_span texts) {
              std::list<std::array<int, 4>> out;
              for (const std::string_view text : texts) {
                  std::array<int, 4> row{};
                  std::ranges::transform(row_of(text), row.begin(), [](float x) { return static_cast<int>(x); });
                  out.push_back(row);
              }
              return out;
          })) == right_rows());
}

TEST_CASE("the role reaches the function") {
    const auto embed =
        make_embedder(1, [](role r, std::string_view) { return std::vector{r == role::query ? 2.0f : 1.0f}; });
    const std::string_view text[] = {"x"};
    CHECK(rows(embed, role::query, text) == std::vector{2.0f});
    CHECK(rows(embed, role::document, text) == std::vector{1.0f});
}

TEST_CASE("a function over many texts is called in batches, and the rows are the same for every size of a batch") {
    for (const std::size_t batch : {0u, 1u, 2u, 4u, 5u, 6u, 64u}) {
        std::vector<std::size_t> sizes;
        const auto embed = make_embedder(4,
                                         [&](texts_span texts) {
                                             sizes.push_back(texts.size());
                                             rows_type out;
                                             for (const std::string_view text : texts) out.push_back(row_of(text));
                                             return out;
                                         },
                                         {.batch = batch});
        CAPTURE(batch);
        CHECK(rows(embed) == right_rows());
        const std::size_t step = batch == 0 ? 5 : batch;
        CHECK(sizes.size() == (5 + step - 1) / step);
        CHECK(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) == 5);
        CHECK(sizes.front() == (std::min)(step, std::size_t{5}));
    }
}

TEST_CASE("no text is no call") {
    int calls = 0;
    const auto embed = make_embedder(4, [&](texts_span texts) { return ++calls, rows_type(texts.size()); });
    CHECK(rows(embed, role::query, {}).empty());
    CHECK(detail::embed_checked(embed, role::query, {}).empty());
    CHECK(calls == 0);
}

TEST_CASE("too few or too many rows are refused with both numbers") {
    CHECK(checked_code(stub(rows_type(4, {1, 2, 3, 4}))) == "embedder.count");
    CHECK(checked_code(stub(rows_type(6, {1, 2, 3, 4}))) == "embedder.count");
    CHECK(checked_code(stub({})) == "embedder.count");
    CHECK(checked_message(stub(rows_type(4, {1, 2, 3, 4}))).find("expected 5 rows for 5 texts, got 4") !=
          std::string::npos);
    CHECK(checked_code(flat_stub({})) == "embedder.count");
    CHECK(checked_code(flat_stub(std::vector<float>(16, 1.0f))) == "embedder.count");
    CHECK(checked_code(flat_stub(std::vector<float>(24, 1.0f))) == "embedder.count");
    CHECK_THROWS_AS(detail::embed_checked(stub({}), role::query, digits()), callable_error);
}

TEST_CASE("rows of another width are refused with the row and both numbers") {
    rows_type ragged(5, {1, 2, 3, 4});
    ragged[3].pop_back();
    CHECK(checked_code(stub(ragged)) == "embedder.dimension");
    CHECK(checked_message(stub(ragged)).find("row 3 should have 4 floats, it has 3") != std::string::npos);
    ragged[3] = {};
    CHECK(checked_message(stub(ragged)).find("row 3 should have 4 floats, it has 0") != std::string::npos);
    CHECK(checked_message(stub(rows_type(5, {1, 2, 3, 4, 5}))).find("row 0 should have 4 floats, it has 5") !=
          std::string::npos);
    CHECK(checked_message(make_embedder(4, [](std::string_view text) {
              return std::vector<float>(text == "2" ? 3 : 4, 1.0f);
          })).find("row 1 should have 4 floats, it has 3") != std::string::npos);
}

TEST_CASE("floats in one range are told apart: another width for every text, or a cut row") {
    // 40 floats for 5 texts: rows of 8, and not ten rows of 4.
    CHECK(checked_message(flat_stub(std::vector<float>(40, 1.0f))).find("row 0 should have 4 floats, it has 8") !=
          std::string::npos);
    CHECK(checked_message(flat_stub(std::vector<float>(19, 1.0f))).find("row 4 should have 4 floats, it has 3") !=
          std::string::npos);
    CHECK(checked_code(flat_stub(std::vector<float>(40, 1.0f))) == "embedder.dimension");
}

TEST_CASE("the row that an error names counts from the first text, not from the first of a batch") {
    const auto embed = make_embedder(4,
                                     [](texts_span texts) {
                                         rows_type out;
                                         for (const std::string_view text : texts)
                                             out.push_back(text == "4" ? std::vector<float>{1} : row_of(text));
                                         return out;
                                     },
                                     {.batch = 2});
    CHECK(checked_message(embed).find("row 3 should have 4 floats, it has 1") != std::string::npos);
}

TEST_CASE("NaN and infinities are refused with their row and their text") {
    for (const float bad : {not_a_number, infinity, -infinity}) {
        rows_type given(5, {1, 2, 3, 4});
        given[2][1] = bad;
        CHECK(checked_code(stub(given)) == "embedder.not_finite");
        CHECK(checked_message(stub(given)).find("stub: row 2 holds a NaN or an infinity, for the text \"3\"") !=
              std::string::npos);
    }
    // The largest floats are floats.
    constexpr float most = (std::numeric_limits<float>::max)();
    CHECK(checked_code(stub(rows_type(5, {most, -most, 0, 0}))) == "(no exception)");
}

TEST_CASE("a zero row is refused with its text, unless zero is said to mean unknown") {
    rows_type given(5, {1, 2, 3, 4});
    given[1] = {0, -0.0f, 0, 0};
    CHECK(checked_code(stub(given)) == "embedder.zero_vector");
    CHECK(checked_message(stub(given)).find("stub: row 1 is zero, for the text \"2\"") != std::string::npos);
    silent_embedder silent;
    silent.given = std::vector<float>(20, 0.0f);
    CHECK(detail::embed_checked(silent, role::query, digits()) == std::vector<float>(20, 0.0f));
}

TEST_CASE("a row that was never written does not pass for a row of zeros") {
    const raw_embedder lazy{std::vector<float>(12, 1.0f)};  // three rows of five
    CHECK(checked_code(lazy) == "embedder.not_finite");
    CHECK(checked_message(lazy).find("row 3 ") != std::string::npos);
    silent_embedder silent;
    CHECK(checked_code(silent) == "embedder.not_finite");
}

TEST_CASE("an embedder that changes its width between calls is refused where a width is expected") {
    const auto embed = make_embedder(4, [](std::string_view text) { return row_of(text); });
    CHECK(code_of([&] { detail::embed_checked(embed, role::query, digits(), 4); }) == "(no exception)");
    CHECK(code_of([&] { detail::embed_checked(embed, role::query, digits(), 5); }) == "embedder.dimension");
    CHECK(message_of([&] { detail::embed_checked(embed, role::query, digits(), 5); })
              .find("rows of 4 floats, they were "
                    "5 before") != std::string::npos);
}

TEST_CASE("a dimension of 0 is refused when the embedder is made") {
    CHECK(code_of([] { make_embedder(0, [](texts_span) { return std::vector<float>{1.0f}; }); }) ==
          "embedder.dimension");
    CHECK_THROWS_AS(make_embedder(0, [](std::string_view) { return std::vector<float>{}; }), usage_error);
}

TEST_CASE("what the function throws comes out as it is") {
    const auto angry = make_embedder(4, [](std::string_view) -> std::vector<float> { throw 42; });
    CHECK_THROWS_AS(rows(angry), int);
    const auto failing = make_embedder(4, [](texts_span) -> rows_type { throw std::runtime_error("no network"); });
    CHECK_THROWS_WITH(rows(failing), "no network");
}

TEST_CASE("copies share an identity, other embedders have another, and one that was moved from keeps its own") {
    const auto function = [](std::string_view text) { return row_of(text); };
    auto first = make_embedder(4, function);
    const auto second = make_embedder(4, function);
    const auto copy = first;
    CHECK(copy.identity() == first.identity());
    CHECK(second.identity() != first.identity());
    const auto moved = std::move(first);
    CHECK(moved.identity() == copy.identity());
    CHECK(first.identity() == copy.identity());  // NOLINT: that is the promise
    CHECK(ref(copy).identity() == copy.identity());
    const raw_embedder nameless{};
    CHECK(ref(nameless).identity() == ref(nameless).identity());
    CHECK(ref(nameless).identity() == static_cast<callable_identity>(&nameless));
    const auto alone = serialized(copy);
    const auto same = alone;
    CHECK(alone.identity() == same.identity());
    CHECK(serialized(copy).identity() != alone.identity());
}

TEST_CASE("an embedder has the name it was given, and wrappers pass it on") {
    const auto embed = make_embedder(4, [](std::string_view text) { return row_of(text); }, {.name = "minilm"});
    CHECK(embed.name() == "minilm");
    CHECK(ref(embed).name() == "minilm");
    CHECK(serialized(embed).name() == "minilm");
    const raw_embedder nameless{};
    CHECK(ref(nameless).name() == "embedder");
}

TEST_CASE("an embedder that knows how much it reads says which texts it cuts, and wrappers pass it on") {
    const auto f = [](std::string_view text) { return row_of(text); };
    const auto words = [](std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, ' ')) + 1; };
    const auto embed = make_embedder(4, f, {.reads = 2, .count = words});
    CHECK(embed.reads_whole("two words"));
    CHECK_FALSE(embed.reads_whole("now three words"));
    CHECK(ref(embed).reads_whole("two words"));
    CHECK_FALSE(ref(embed).reads_whole("now three words"));
    CHECK_FALSE(serialized(embed).reads_whole("now three words"));
    // By default a token is four bytes, and an embedder that does not say reads everything.
    CHECK(make_embedder(4, f, {.reads = 2}).reads_whole("12345678"));
    CHECK_FALSE(make_embedder(4, f, {.reads = 2}).reads_whole("123456789"));
    CHECK(make_embedder(4, f).reads_whole(std::string(100000, 'x')));
    const raw_embedder silent{};
    CHECK(ref(silent).reads_whole(std::string(100000, 'x')));
}

TEST_CASE("a reference embeds as its target does without copying it") {
    const toy::letter_embedder letters;
    const auto shared = ref(letters);
    STATIC_REQUIRE(Embedder<decltype(shared)>);
    CHECK(shared.dimension() == 26);
    CHECK(rows(shared, role::query, digits()) == std::vector<float>(5 * 26, 0.0f));
    CHECK(letters.counted->calls == 1);
    const auto doubled = [](int x) { return 2 * x; };
    CHECK(ref(doubled)(21) == 42);
    silent_embedder silent;
    STATIC_REQUIRE(decltype(ref(silent))::zero_means_unknown);
    STATIC_REQUIRE_FALSE(decltype(ref(letters))::zero_means_unknown);
    STATIC_REQUIRE(decltype(serialized(silent))::zero_means_unknown);
}

TEST_CASE("a function that is not safe from several threads is called by one at a time when serialized") {
    const fragile f;
    const auto embed = make_embedder(4, serialized(f));
    const auto expected = right_rows();
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round)
                if (rows(embed) != expected) ++wrong;
        });
    threads.clear();
    CHECK(*f.collisions == 0);
    CHECK(wrong == 0);
}

TEST_CASE("a serialized embedder serializes its embedding, and copies share the lock") {
    struct one_at_a_time {
        std::shared_ptr<std::atomic<int>> inside = std::make_shared<std::atomic<int>>(0);
        std::shared_ptr<std::atomic<int>> collisions = std::make_shared<std::atomic<int>>(0);
        std::size_t dimension() const { return 1; }
        void embed(role, texts_span texts, std::span<float> out) const {
            if (inside->fetch_add(1) != 0) ++*collisions;
            std::this_thread::yield();
            std::ranges::fill(out, static_cast<float>(texts.size()));
            inside->fetch_sub(1);
        }
    };
    const one_at_a_time target;
    const auto embed = serialized(target);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, mine = embed] {
            for (int round = 0; round < 50; ++round)
                if (rows(mine) != std::vector<float>(5, 5.0f)) ++wrong;
        });
    threads.clear();
    CHECK(*target.collisions == 0);
    CHECK(wrong == 0);
}

TEST_CASE("a serialized callable that throws gives its lock back") {
    const auto f = serialized([](int x) {
        if (x < 0) throw std::runtime_error("negative");
        return x;
    });
    CHECK_THROWS(f(-1));
    CHECK(f(1) == 1);
}
