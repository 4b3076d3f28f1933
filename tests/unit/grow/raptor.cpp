#include "quarry/grow/raptor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "quarry/model/cache.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scripted_generator.hpp"

using namespace quarry;

namespace {

using id_list = std::vector<std::string>;

// Where the next "at <number>:" stands.
std::size_t next_direction(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find("at ", from); at != std::string_view::npos; at = text.find("at ", at + 1))
        if (at + 3 < text.size() && text[at + 3] >= '0' && text[at + 3] <= '9') return at;
    return std::string_view::npos;
}

// A text says its own direction: "at 40: ..." lies at 40 degrees. A summary lies where the directions in it point to.
struct compass {
    static constexpr bool zero_means_unknown = true;
    std::shared_ptr<std::size_t> texts_seen = std::make_shared<std::size_t>(0);

    std::size_t dimension() const { return 2; }
    void embed(role, std::span<const std::string_view> texts, std::span<float> rows) const {
        *texts_seen += texts.size();
        std::ranges::fill(rows, 0.0f);
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::size_t at = next_direction(texts[i], 0); at != std::string_view::npos;
                 at = next_direction(texts[i], at + 1)) {
                const double degrees = std::atof(std::string(texts[i].substr(at + 3, 8)).c_str());
                rows[2 * i] += static_cast<float>(std::cos(degrees * std::numbers::pi / 180));
                rows[2 * i + 1] += static_cast<float>(std::sin(degrees * std::numbers::pi / 180));
            }
    }
};

// Repeats the directions of all it is given: "summary of at 0 at 10".
scripted_generator pointing() {
    return scripted_generator([](const prompt& p) {
        std::string out = "summary of";
        for (std::size_t at = next_direction(p.text(), 0); at != std::string::npos;
             at = next_direction(p.text(), at + 1))
            out += ' ' + std::string(p.text().substr(at, p.text().find(':', at) - at)) + ':';
        return completion(out);
    });
}

std::string at(int degrees) { return "at " + std::to_string(degrees) + ": words"; }

void add_chunks(corpus& c, const std::string& id, const std::vector<int>& degrees) {
    std::string text;
    std::vector<byte_span> spans;
    for (const int d : degrees) {
        if (!text.empty()) text += '\n';
        const std::string words = at(d);
        spans.push_back({text.size(), text.size() + words.size()});
        text += words;
    }
    const unit_id article = c.add({.id = id, .title = {}, .summary = {}, .text = text});
    for (std::size_t i = 0; i < spans.size(); ++i)
        c.add_part(article, {.span = spans[i], .title = {}, .id = id + "/" + std::to_string(degrees[i])});
}

corpus of(const std::map<std::string, std::vector<int>>& articles) {
    corpus c;
    for (const auto& [id, degrees] : articles) add_chunks(c, id, degrees);
    return c;
}

// The ids of what each summary was made from, by reading order, joined.
id_list shapes(const corpus& c, std::span<const unit_id> summaries) {
    id_list out;
    for (const unit_id s : summaries) {
        std::string shape;
        for (const unit_id source : c.sources(s)) {
            if (!shape.empty()) shape += ' ';
            shape += c.kind(source) == unit_kind::generated ? "*" : std::string(c.id(source));
        }
        out.push_back(shape);
    }
    return out;
}

const raptor_options across{.across_articles = true};
const kmeans_clusters threes{.members = 3};

}  // namespace

TEST_CASE("raptor: what points the same way shares a summary, and summaries share one") {
    corpus c = of({{"a", {0, 10, 20, 80, 90, 100}}});
    const auto g = pointing();
    const raptor_growth grown = raptor(compass{}, summaries(g), {}, threes).grow(c);
    CHECK(shapes(c, grown.summaries) == id_list{"a/0 a/10 a/20", "a/80 a/90 a/100", "* *"});
    CHECK(grown.made == grown.summaries);
    CHECK(c.kind(grown.summaries[0]) == unit_kind::generated);
    CHECK(c.text(grown.summaries[0]) == "summary of at 0: at 10: at 20:");
    CHECK(g.calls() == 3);
    CHECK(grown.asked.calls == 3);
    CHECK(grown.leaves == 6);
    CHECK(grown.obsolete.empty());
}

TEST_CASE("raptor: no leaf, one leaf and a few leaves are trees too") {
    for (int n = 0; n <= 5; ++n) {
        std::vector<int> degrees;
        for (int i = 0; i < n; ++i) degrees.push_back(i);
        corpus c = of({{"a", degrees}});
        const auto g = pointing();
        const raptor_growth grown = raptor(compass{}, summaries(g)).grow(c);
        CHECK(grown.summaries.size() == (n < 2 ? 0u : 1u));
        CHECK(g.calls() == grown.summaries.size());
    }
    corpus empty;
    CHECK(raptor(compass{}, extracts{}).grow(empty).summaries.empty());
}

TEST_CASE("raptor: leaves that coincide, and a clusterer that parts nothing or everything, come to an end") {
    corpus c = of({{"a", {}}});
    std::string text;
    for (int i = 0; i < 50; ++i) text += "at 7: same\n";
    const unit_id article = c.add({.id = "b", .title = {}, .summary = {}, .text = text});
    for (std::size_t i = 0; i < 50; ++i)
        c.add_part(article, {.span = {11 * i, 11 * i + 10}, .title = {}, .id = "b/" + std::to_string(i)});
    const scripted_generator g([](const prompt&) { return completion("All lie at 7: the same."); });
    const raptor_growth grown = raptor(compass{}, summaries(g), {.layers = 9}).grow(c);
    CHECK(!grown.summaries.empty());
    CHECK(g.calls() <= 100);

    const auto singles = [](std::span<const float> rows, std::size_t d) {
        row_groups out;
        for (std::size_t i = 0; i < rows.size() / d; ++i) out.push_back({i});
        return out;
    };
    corpus ten = of({{"a", {0, 10, 20, 30, 40, 50, 60, 70, 80, 90}}});
    const auto silent = pointing();
    CHECK(raptor(compass{}, summaries(silent), {.layers = 9}, singles).grow(ten).summaries.empty());
    CHECK(silent.calls() == 0);

    // Every pair of three: three groups of three nodes gain nothing.
    const auto pairs = [](std::span<const float> rows, std::size_t d) {
        row_groups out;
        for (std::size_t i = 0; i < rows.size() / d; ++i)
            for (std::size_t j = 0; j < i; ++j) out.push_back({j, i});
        return out;
    };
    corpus three = of({{"a", {0, 10, 20}}});
    CHECK(raptor(compass{}, summaries(silent), {.layers = 9}, pairs).grow(three).summaries.empty());
}

TEST_CASE("raptor: no prompt is longer than allowed, however large a group or a leaf") {
    corpus c;
    std::string text, filler;
    for (int i = 0; i < 490; ++i) filler += " wort";
    std::vector<byte_span> spans;
    for (int i = 0; i < 60; ++i) {
        const std::string words =
            "at 7: number " + std::to_string(i) + filler + (i == 30 ? filler + filler + filler : "") + ".\n";
        spans.push_back({text.size(), text.size() + words.size() - 1});
        text += words;
    }
    const unit_id article = c.add({.id = "a", .title = {}, .summary = {}, .text = text});
    for (const byte_span span : spans) c.add_part(article, {.span = span});
    const auto g = pointing();
    const raptor_growth grown = raptor(compass{}, summaries(g), {.most_tokens = 1500}).grow(c);
    CHECK(!grown.summaries.empty());
    CHECK(grown.cut == 1);
    std::size_t longest = 0;
    for (const prompt& p : g.asked()) longest = (std::max)(longest, approximate_tokens{}(p.whole()));
    CHECK(longest <= 1500);
    CHECK(longest > 1000);
    CHECK(code_of([&] { raptor(compass{}, summaries(g), {.most_tokens = 50}).grow(c); }) == "raptor.options");
}

TEST_CASE("raptor: a failed summary leaves its group as it was, and every other has its own") {
    corpus c = of({{"a", {0, 10, 20, 80, 90, 100, 170, 180, 190}}});
    const auto g = pointing();
    g.fail_at(2, "timeout");
    const raptor_growth grown = raptor(compass{}, summaries(g), {.layers = 1}, threes).grow(c);
    CHECK(shapes(c, grown.summaries) == id_list{"a/0 a/10 a/20", "a/170 a/180 a/190"});
    CHECK(c.text(grown.summaries[1]) == "summary of at 170: at 180: at 190:");
    CHECK(grown.unsummarised == 1);
    CHECK(grown.asked.failed == 1);
    // It is tried again the next time, and only it.
    const raptor_growth again = raptor(compass{}, summaries(g), {.layers = 1}, threes).grow(c, grown.tree);
    CHECK(again.made.size() == 1);
    CHECK(again.summaries.size() == 3);
    CHECK(g.calls() == 4);
}

TEST_CASE("raptor: what fails for good leaves the corpus as it was") {
    corpus c = of({{"a", {0, 10, 20, 80, 90, 100}}});
    const std::size_t before = c.size();
    const auto g = pointing();
    g.at(2, [](std::stop_token) -> completion { throw cancelled("budget.calls", "spent"); });
    CHECK(code_of([&] { raptor(compass{}, summaries(g), {}, threes).grow(c); }) == "budget.calls");
    CHECK(c.size() == before);
    struct breaking : compass {
        void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const {
            if (texts[0].starts_with("summary")) throw std::runtime_error("down");
            compass::embed(r, texts, rows);
        }
    };
    CHECK_THROWS_AS(raptor(breaking{}, summaries(pointing()), {}, threes).grow(c), std::runtime_error);
    CHECK(c.size() == before);
    const auto wrong = [](std::span<const float>, std::size_t) { return row_groups{{0, 99}}; };
    CHECK(code_of([&] { raptor(compass{}, extracts{}, {}, wrong).grow(c); }) == "raptor.clusters");
    CHECK(c.size() == before);
}

TEST_CASE("raptor: the calls that were paid for are not made again after a failure") {
    const auto g = pointing();
    reply_store replies;
    const auto grow = [&](corpus& c) { return raptor(compass{}, summaries(cached(g, replies)), {}, threes).grow(c); };
    corpus undisturbed = of({{"a", {0, 10, 20, 80, 90, 100}}}), c = of({{"a", {0, 10, 20, 80, 90, 100}}});
    g.at(2, [](std::stop_token) -> completion { throw cancelled("budget.calls", "spent"); });
    CHECK(code_of([&] { grow(c); }) == "budget.calls");
    grow(c);
    CHECK(g.calls() == 4);
    raptor(compass{}, summaries(pointing()), {}, threes).grow(undisturbed);
    REQUIRE(c.size() == undisturbed.size());
    for (std::size_t i = 0; i < c.size(); ++i) {
        CHECK(c.id(unit_at(i)) == undisturbed.id(unit_at(i)));
        CHECK(c.text(unit_at(i)) == undisturbed.text(unit_at(i)));
    }
}

TEST_CASE("raptor: every article has a tree of its own, or all have one, and what is apart stays apart") {
    const std::map<std::string, std::vector<int>> two{{"a", {0, 90}}, {"b", {1, 91}}};
    corpus own = of(two);
    const auto g = pointing();
    CHECK(shapes(own, raptor(compass{}, summaries(g)).grow(own).summaries) == id_list{"a/0 a/90", "b/1 b/91"});
    corpus all = of(two);
    CHECK(shapes(all, raptor(compass{}, summaries(g), {.across_articles = true, .layers = 1},
                             kmeans_clusters{.members = 2}).grow(all).summaries) == id_list{"a/0 b/1", "a/90 b/91"});
    corpus apart = of(two);
    const raptor_options by_article{.across_articles = true,
                                    .apart = [](const unit_ref& u) { return std::string(u.article().id()); }};
    const auto spy = pointing();
    CHECK(shapes(apart, raptor(compass{}, summaries(spy), by_article).grow(apart).summaries) ==
          id_list{"a/0 a/90", "b/1 b/91"});
    for (const prompt& p : spy.asked())
        CHECK((p.text().find("at 0:") != std::string::npos) != (p.text().find("at 1:") != std::string::npos));
}

TEST_CASE("raptor: a second growth of the same corpus makes no call and adds nothing") {
    corpus c = of({{"a", {0, 10, 20, 80, 90, 100}}});
    const auto g = pointing();
    const raptor tree(compass{}, summaries(g), {}, threes);
    const raptor_growth first = tree.grow(c);
    const std::size_t size = c.size(), calls = g.calls();
    const compass counted;
    const raptor_growth second = raptor(counted, summaries(g), {}, threes).grow(c, first.tree);
    CHECK(second.summaries == first.summaries);
    CHECK(second.made.empty());
    CHECK(second.obsolete.empty());
    CHECK(*counted.texts_seen == 0);
    CHECK(tree.grow(c).summaries == first.summaries);  // without the tree too: the ids tell
    CHECK(c.size() == size);
    CHECK(g.calls() == calls);
}

TEST_CASE("raptor: a unit that comes, goes or changes touches its group and those above, and no other") {
    const std::map<std::string, std::vector<int>> before{
        {"a", {0, 10, 20}}, {"b", {80, 90, 100}}, {"c", {170, 180, 190}}};
    const auto g = pointing();
    const raptor tree(compass{}, summaries(g), across, threes);
    corpus old = of(before);
    const raptor_growth first = tree.grow(old);
    CHECK(shapes(old, first.summaries) == id_list{"a/0 a/10 a/20", "b/80 b/90 b/100", "c/170 c/180 c/190", "* * *"});

    auto after = before;
    after["d"] = {85};
    corpus more = of(after);
    const raptor_growth came = tree.grow(more, first.tree);
    CHECK(shapes(more, came.made) == id_list{"b/80 b/90 b/100 d/85", "* * *"});
    CHECK(came.summaries.size() == 4);
    CHECK(g.calls() == 6);

    // The same corpus again, where the old summaries still are.
    add_chunks(old, "d", {85});
    const raptor_growth here = tree.grow(old, first.tree);
    CHECK(shapes(old, here.made) == id_list{"b/80 b/90 b/100 d/85", "* * *"});
    CHECK(here.obsolete == std::vector<unit_id>{first.summaries[1], first.summaries[3]});

    corpus less = of({{"a", {0, 20}}, {"b", {80, 90, 100}}, {"c", {170, 180, 190}}});
    const raptor_growth went = tree.grow(less, first.tree);
    CHECK(shapes(less, went.made) == id_list{"a/0 a/20", "* * *"});
    for (const unit_id s : went.summaries) CHECK(less.text(s).find("at 10:") == std::string_view::npos);

    corpus gone = of({{"a", {0}}, {"b", {80, 90, 100}}, {"c", {170, 180, 190}}});
    const raptor_growth alone = tree.grow(gone, first.tree);
    CHECK(shapes(gone, alone.made) == id_list{"a/0 b/80 b/90 b/100", "* *"});
    CHECK(alone.summaries.size() == 3);

    corpus nothing = of({{"a", {}}});
    CHECK(tree.grow(nothing, first.tree).summaries.empty());
}

TEST_CASE("raptor: a group that grows too large is parted, and its neighbours stay") {
    std::map<std::string, std::vector<int>> articles{{"a", {0, 1, 2}}, {"b", {90, 91, 92}}};
    const auto g = pointing();
    const raptor tree(compass{}, summaries(g), {.across_articles = true, .most_members = 6}, threes);
    corpus c = of(articles);
    const raptor_growth first = tree.grow(c);
    articles["c"] = {20, 21, 22, 23};
    corpus more = of(articles);
    const raptor_growth second = tree.grow(more, first.tree);
    std::set<std::string> leaves;
    for (const unit_id s : second.summaries) {
        CHECK(more.sources(s).size() <= 6);
        for (const unit_id source : more.sources(s))
            if (more.kind(source) == unit_kind::chunk) leaves.insert(std::string(more.id(source)));
    }
    CHECK(leaves.size() == 10);
    const id_list now = shapes(more, second.summaries);
    CHECK(std::ranges::find(now, "b/90 b/91 b/92") != now.end());
    const id_list made = shapes(more, second.made);
    CHECK(std::ranges::find(made, "b/90 b/91 b/92") == made.end());
}

TEST_CASE("raptor: a tree by another maker is made anew") {
    corpus c = of({{"a", {0, 10, 20}}});
    const auto g = pointing();
    const raptor_growth first = raptor(compass{}, summaries(g)).grow(c);
    const raptor_growth second = raptor(compass{}, summaries(g, {.version = "mine/2"})).grow(c, first.tree);
    CHECK(second.made.size() == 1);
    CHECK(second.obsolete == first.summaries);
}

TEST_CASE("raptor: without a model the most central sentences are the summary, and it says what it is about") {
    corpus c;
    const unit_id article =
        c.add({.id = "a", .title = "Pumps", .summary = {}, .text = "at 1: Pumps move water. at 2: Water moves."});
    c.add_part(article, {.span = {0, 22}});
    c.add_part(article, {.span = {23, 41}});
    const raptor_growth grown = raptor(compass{}, extracts{}).grow(c);
    REQUIRE(grown.summaries.size() == 1);
    CHECK(!c.text(grown.summaries[0]).empty());
    CHECK(c.title(grown.summaries[0]) == "Pumps");
    CHECK(grown.asked.calls == 0);
}

TEST_CASE("raptor: units without words, and words that the embedder does not know, stay outside and are counted") {
    corpus c;
    const unit_id article = c.add({.id = "a", .title = {}, .summary = {}, .text = "at 1: x  at 2: y  who knows    "});
    for (const byte_span span : {byte_span{0, 7}, byte_span{9, 16}, byte_span{18, 27}, byte_span{28, 31}})
        c.add_part(article, {.span = span});
    const raptor_growth grown = raptor(compass{}, extracts{}).grow(c);
    CHECK(grown.unknown == 2);
    REQUIRE(grown.summaries.size() == 1);
    CHECK(c.sources(grown.summaries[0]).size() == 2);
}

TEST_CASE("raptor: a unit that is in two groups is in two summaries") {
    const auto soft = [](std::span<const float> rows, std::size_t d) {
        if (rows.size() / d < 5) return row_groups{{0, 1}};
        return row_groups{{0, 1, 2}, {2, 3, 4}};
    };
    corpus c = of({{"a", {0, 10, 20, 30, 40}}});
    CHECK(shapes(c, raptor(compass{}, summaries(pointing()), {}, soft).grow(c).summaries) ==
          id_list{"a/0 a/10 a/20", "a/20 a/30 a/40", "* *"});
}
