#include "quarry/probe/schema_reader.hpp"

#include "support/catch.hpp"
#include "support/filter_sets.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

const std::string golden = std::string(QUARRY_SOURCE_DIR) + "/tests/golden/self_query";

const corpus& recipes() {
    static const corpus c = filter_sets::recipes(golden);
    return c;
}

// A reader over the recipes, as it is without any hint.
class kitchen {
   public:
    explicit kitchen(std::vector<field_hint> hints = {},
                     schema_reader_options options = {.today = date_time::day(2026, 3, 10)})
        : fields_(recipes(), std::move(hints)), reader_(fields_, options) {}

    probed_query read(std::string_view question) const { return reader_.read(question); }
    std::string filter(std::string_view question) const {
        const auto f = read(question).narrowed;
        return f ? f->to_string() : "none";
    }
    std::string text(std::string_view question) const { return read(question).probes.front().text; }

   private:
    field_catalog fields_;
    schema_reader reader_;
};

std::string notes_of(const probed_query& p) {
    std::string out;
    for (const probe_note& n : p.notes) out += (out.empty() ? "" : "; ") + to_string(n);
    return out;
}

}  // namespace

TEST_CASE("values become conditions, in any case and number, and the rest is searched for") {
    const kitchen k;
    CHECK(k.filter("Thai curries") == R"(eq(cuisine, "Thai"))");
    CHECK(k.text("Thai curries") == "curries");
    CHECK(k.filter("THAI DESSERTS") == R"(and(eq(cuisine, "Thai"), eq(course, "dessert")))");
    CHECK(k.filter("gluten-free cakes") == R"(contains(diets, "gluten free"))");
    CHECK(k.filter("gluten free cakes") == k.filter("Gluten_free cakes"));
    CHECK(k.filter("anything by Amara Diallo") == R"(eq(cook, "Amara Diallo"))");
    CHECK(k.filter("Mei Tanaka's soups") == R"(eq(cook, "Mei Tanaka"))");
    CHECK(k.filter("main course with rice") == R"(and(eq(course, "main course"), contains(ingredients, "rice")))");
    CHECK(k.filter("what goes well with everything?") == "none");
    CHECK(k.text("what goes well with everything?") == "what goes well with everything?");
}

TEST_CASE("comparisons go to the field that they speak of, in its unit") {
    const kitchen k;
    CHECK(k.filter("stews in under 45 minutes") == "lt(minutes, 45)");
    CHECK(k.filter("stews, at most an hour and a half") == "le(minutes, 90)");
    CHECK(k.filter("stews that take 2 hours or more") == "ge(minutes, 120)");
    CHECK(k.filter("stews for at least six people") == "ge(servings, 6)");
    CHECK(k.filter("stews rated above 4.5") == "gt(rating, 4.5)");
    CHECK(k.filter("stews with 8 servings") == "eq(servings, 8)");
    CHECK(k.filter("stews published in 2024") == "and(ge(published, 2024-01-01), lt(published, 2025-01-01))");
    CHECK(k.filter("stews from before 2024") == "lt(published, 2024-01-01)");
    CHECK(k.filter("stews older than 90 days") == "lt(published, 2025-12-10)");
    CHECK(k.filter("stews added on 3 March 2026") == "eq(published, 2026-03-03)");
    CHECK(k.filter("stews added after 3 March 2026") == "gt(published, 2026-03-03)");
    CHECK(k.filter("stews between 20 and 40 minutes") == "and(ge(minutes, 20), le(minutes, 40))");
}

TEST_CASE("a number that could be of several fields is left in the text, and the answer is not complete") {
    const kitchen k;
    const probed_query p = k.read("stews above 4.5");  // people to feed, or stars?
    CHECK_FALSE(p.narrowed);
    CHECK_FALSE(p.complete);
    CHECK(notes_of(p) == "unread: 4.5");
    CHECK(p.probes.front().text == "stews above 4.5");
    CHECK(k.read("stews in 2024").complete);
    CHECK_FALSE(k.read("stews for 7/8/2024").complete);
}

TEST_CASE("or, and, and commas join what they join") {
    const kitchen k;
    CHECK(k.filter("Greek or Thai dishes") == R"(in(cuisine, "Greek", "Thai"))");
    CHECK(k.filter("Greek, Thai and Mexican dishes") == R"(in(cuisine, "Greek", "Thai", "Mexican"))");
    CHECK(k.filter("drinks with mint or ginger") ==
          R"(and(eq(course, "drink"), or(contains(ingredients, "mint"), contains(ingredients, "ginger"))))");
    CHECK(k.filter("drinks with mint and ginger") ==
          R"(and(eq(course, "drink"), contains(ingredients, "mint"), contains(ingredients, "ginger")))");
    CHECK(k.filter("drinks with mint, ginger or lime") ==
          R"(and(eq(course, "drink"), or(contains(ingredients, "mint"), contains(ingredients, "ginger"), )"
          R"(contains(ingredients, "lime"))))");
    CHECK(k.filter("vegan or under 20 minutes") == R"(or(contains(diets, "vegan"), lt(minutes, 20)))");
    CHECK(k.filter("Greek starters or French desserts") ==
          R"(or(and(eq(cuisine, "Greek"), eq(course, "starter")), and(eq(cuisine, "French"), eq(course, "dessert"))))");
    CHECK(k.filter("published in 2021 or 2023") ==
          "or(and(ge(published, 2021-01-01), lt(published, 2022-01-01)), and(ge(published, 2023-01-01), lt(published, "
          "2024-01-01)))");
    CHECK(k.filter("dishes for 4, 6 or 8 people") == "or(eq(servings, 4), eq(servings, 6), eq(servings, 8))");
}

TEST_CASE("negation reaches what follows it and no further") {
    const kitchen k;
    CHECK(k.filter("desserts without cream") == R"(and(eq(course, "dessert"), not(contains(ingredients, "cream"))))");
    CHECK(k.filter("without cream or sugar") ==
          R"(and(not(contains(ingredients, "cream")), not(contains(ingredients, "sugar"))))");
    CHECK(k.filter("neither Greek nor Thai") == R"(and(ne(cuisine, "Greek"), ne(cuisine, "Thai")))");
    CHECK(k.filter("not Greek but Thai") == R"(and(ne(cuisine, "Greek"), eq(cuisine, "Thai")))");
    CHECK(k.filter("without cream but with sugar") ==
          R"(and(not(contains(ingredients, "cream")), contains(ingredients, "sugar")))");
    CHECK(k.filter("anything but desserts") == R"(ne(course, "dessert"))");
    CHECK(k.filter("starters other than Italian ones") == R"(and(eq(course, "starter"), ne(cuisine, "Italian")))");
    CHECK(k.filter("non-vegan drinks") == R"(and(not(contains(diets, "vegan")), eq(course, "drink")))");
    CHECK(k.filter("starters that aren't freezable") == R"(and(eq(course, "starter"), eq(freezable, false)))");
    CHECK(k.filter("freezable starters") == R"(and(eq(freezable, true), eq(course, "starter")))");
    CHECK(k.filter("not under 20 minutes") == "ge(minutes, 20)");
    CHECK(k.filter("stews not from 2024") == "not(and(ge(published, 2024-01-01), lt(published, 2025-01-01)))");
    CHECK(k.filter("not only Greek dishes") == R"(eq(cuisine, "Greek"))");
    CHECK(k.text("soups without cream") == "soups");
}

TEST_CASE("a second value for a field that holds one is not read, since nothing could match both") {
    const kitchen k;
    const probed_query p = k.read("Greek salad the way a Thai grandmother makes it");
    CHECK(p.narrowed->to_string() == R"(eq(cuisine, "Greek"))");
    CHECK_FALSE(p.complete);
    CHECK(notes_of(p) == "conflict: Thai");
}

TEST_CASE("what belongs to the asker is no condition") {
    const kitchen k;
    const probed_query p = k.read("why did my dessert collapse?");
    CHECK_FALSE(p.narrowed);
    CHECK_FALSE(p.complete);
    CHECK(p.probes.front().text == "why did my dessert collapse?");
}

TEST_CASE("a field whose values are everyday words counts only where it is named") {
    const kitchen k({{.field = "ingredients", .only_when_named = true}});
    CHECK(k.filter("salt and sugar in baking") == "none");
    CHECK(k.read("salt and sugar in baking").complete);
    CHECK(k.filter("ingredients mint or ginger") ==
          R"(or(contains(ingredients, "mint"), contains(ingredients, "ginger")))");
    CHECK(k.filter("drinks, ingredient mint") == R"(and(eq(course, "drink"), contains(ingredients, "mint")))");
}

TEST_CASE("other names and aliases are read like the words of the schema") {
    const kitchen k({{.field = "servings", .names = {"feeds"}},
                     {.field = "course", .aliases = {{"pudding", "dessert"}, {"evening meal", "main course"}}},
                     {.field = "freezable", .aliases = {{"eat at once", "false"}}}});
    CHECK(k.filter("puddings") == R"(eq(course, "dessert"))");
    CHECK(k.filter("an evening meal that feeds 8") == R"(and(eq(course, "main course"), eq(servings, 8)))");
    CHECK(k.filter("to eat at once") == "eq(freezable, false)");
}

TEST_CASE("the field that the words around a value speak of wins, then the one that holds it more often") {
    const schema fields{{"writer", field_type::string}, {"painters", field_type::string_list}};
    using list = std::vector<std::string>;
    const field_catalog known(fields, {{"writer", "Ada Bell", 2},
                                       {"painters", list{"Ada Bell"}, 5},
                                       {"writer", "Ivo Kern", 5},
                                       {"painters", list{"Ivo Kern"}, 2},
                                       {"writer", "Una Moor", 1},
                                       {"painters", list{"Una Moor"}, 1}});
    const schema_reader reader(known);
    CHECK(reader.read("works of Ada Bell").narrowed->to_string() == R"(contains(painters, "Ada Bell"))");
    CHECK(reader.read("works of Ivo Kern").narrowed->to_string() == R"(eq(writer, "Ivo Kern"))");
    CHECK(reader.read("works written by Ada Bell").narrowed->to_string() == R"(eq(writer, "Ada Bell"))");
    CHECK(reader.read("writer Ada Bell").narrowed->to_string() == R"(eq(writer, "Ada Bell"))");
    CHECK(reader.read("painted by Ivo Kern").narrowed->to_string() == R"(contains(painters, "Ivo Kern"))");
    const probed_query tie = reader.read("works of Una Moor");
    CHECK_FALSE(tie.narrowed);
    CHECK_FALSE(tie.complete);
    CHECK(notes_of(tie) == "ambiguous: Una Moor");
}

TEST_CASE("among very many values a single word must be written as the value is") {
    std::vector<field_catalog::listed_value> values;
    for (int i = 0; i < 70; ++i)
        values.push_back({"people", std::vector<std::string>{"Nobody " + std::to_string(i)}, 1});
    values.push_back({"people", std::vector<std::string>{"Summer"}, 1});
    values.push_back({"people", std::vector<std::string>{"J. R. Oak"}, 1});
    const field_catalog known(schema{{"people", field_type::string_list}}, values);
    const schema_reader reader(known);
    CHECK_FALSE(reader.read("lakes in summer").narrowed);
    CHECK(reader.read("a talk by Summer").narrowed->to_string() == R"(contains(people, "Summer"))");
    CHECK(reader.read("a talk by J. R. Oak").narrowed->to_string() == R"(contains(people, "J. R. Oak"))");
}

TEST_CASE("a field of years takes years, and a hidden field takes nothing") {
    const schema fields{{"year", field_type::integer}, {"tenant", field_type::string}, {"pages", field_type::integer}};
    const field_catalog known(fields,
                              {{"year", 1990}, {"year", 2024}, {"tenant", "acme"}, {"pages", 10}, {"pages", 900}},
                              {{.field = "tenant", .hidden = true}});
    const schema_reader reader(known, {.today = date_time::day(2026, 3, 10)});
    const auto filter = [&](std::string_view q) {
        const auto f = reader.read(q).narrowed;
        return f ? f->to_string() : "none";
    };
    CHECK(filter("reports from 2003") == "eq(year, 2003)");
    CHECK(filter("reports before 2003") == "lt(year, 2003)");
    CHECK(filter("reports of the 1990s") == "and(ge(year, 1990), le(year, 1999))");
    CHECK(filter("reports after the 1990s") == "gt(year, 1999)");
    CHECK(filter("reports from 2003 to 2007") == "and(ge(year, 2003), le(year, 2007))");
    CHECK(filter("reports of the last 5 years") == "ge(year, 2021)");
    CHECK(filter("reports from this year") == "eq(year, 2026)");
    CHECK(filter("reports from March 2003") == "none");  // a field of years cannot hold a month
    CHECK_FALSE(reader.read("reports from March 2003").complete);
    CHECK(filter("reports over 200 pages") == "gt(pages, 200)");
    CHECK(filter("reports over 200") == "gt(pages, 200)");  // no other field can hold it
    CHECK(filter("acme reports") == "none");
}

TEST_CASE("a field that holds years, whatever it is called, takes decades where the question names it") {
    const field_catalog known(schema{{"opened", field_type::integer}, {"price", field_type::number}},
                              {{"opened", 1952}, {"opened", 2024}, {"price", 1200.0}, {"price", 2400.0}});
    const schema_reader reader(known, {.today = date_time::day(2026, 3, 10)});
    const auto filter = [&](std::string_view q) {
        const auto f = reader.read(q).narrowed;
        return f ? f->to_string() : "none";
    };
    CHECK(filter("halls opened in the 1990s") == "and(ge(opened, 1990), le(opened, 1999))");
    CHECK(filter("halls opened before the nineties") == "lt(opened, 1990)");
    CHECK(filter("halls opened in the last 10 years") == "ge(opened, 2016)");
    CHECK(filter("halls opened since 2015") == "ge(opened, 2015)");
    CHECK(filter("halls of the 1990s") == "none");
    CHECK_FALSE(reader.read("halls of the 1990s").complete);
    CHECK(filter("the price in the 1990s") == "none");
}

TEST_CASE("a number in front of what is wanted is a limit, clamped to what the caller allows") {
    const kitchen k({}, {.most = 20});
    CHECK(k.read("five vegan desserts").limit == 5);
    CHECK(k.read("top 10 drinks").limit == 10);
    CHECK(k.read("show me 3 soups").limit == 3);
    const probed_query many = k.read("100 soups");
    CHECK(many.limit == 20);
    CHECK(notes_of(many) == "limited: 100 to 20");
    CHECK_FALSE(k.read("0 soups").limit);
    CHECK_FALSE(k.read("20 minutes or less").limit);
    CHECK_FALSE(k.read("soups for 6 people").limit);
    CHECK(k.text("top 10 vegan soups") == "soups");
}

TEST_CASE("the whole question is searched for where the options or the question leave nothing else") {
    const kitchen k({}, {.keep_words = true});
    CHECK(k.text("Thai curries without rice") == "Thai curries without rice");
    CHECK(kitchen().text("vegan Thai desserts") == "vegan Thai desserts");
    CHECK(kitchen().text("") == "");
}

TEST_CASE("questions that are no questions do no harm") {
    const kitchen k;
    for (const char* question :
         {"", " ", "???", "\xFF\xFE", "or or or", "not", "and not or", "2024", "Thai or", "without", "top 10",
          "between", "more than", "\u2264", "not not Thai", "(Thai) [rice]", "Thai,,,rice", "99999999999999999999"}) {
        CAPTURE(question);
        const probed_query p = k.read(question);
        CHECK(p.probes.size() == 1);
        if (p.narrowed) CHECK_NOTHROW(checked(*p.narrowed, recipes().fields()));
    }
}

TEST_CASE("whatever a question is made of, the filter fits the schema") {
    const kitchen k;
    static const char* const parts[] = {"Thai",     "vegan",     "or",         "and",          ",",   "not",
                                        "without",  "rice",      "2024",       "before",       "20",  "minutes",
                                        "at least", "between",   "dessert",    "Amara Diallo", "nor", "my",
                                        "with",     "freezable", "last month", "rated",        "4.5", "people",
                                        "top",      "the",       "end of",     "March",        "-",   "."};
    std::uint32_t seed = 3;
    std::size_t filters = 0;
    for (int round = 0; round < 1000; ++round) {
        std::string question;
        for (int i = 0; i < 9; ++i) {
            seed = seed * 1664525u + 1013904223u;
            question += std::string(parts[(seed >> 16) % std::size(parts)]) + " ";
        }
        CAPTURE(question);
        const probed_query p = k.read(question);
        REQUIRE(p.probes.size() == 1);
        REQUIRE_FALSE(p.probes.front().text.empty());
        if (!p.narrowed) continue;
        ++filters;
        REQUIRE_NOTHROW(checked(*p.narrowed, recipes().fields()));
    }
    CHECK(filters > 700);
}

TEST_CASE("reading takes linear time") {
    const kitchen k;
    for (const std::string_view part : {"Thai ", "rice or ", "not ", "- ", "Greek starters or ", "2024, ", "my rice ",
                                        "gluten ", "the ", "without rice and ", "a-b-", "curry "}) {
        CAPTURE(part);
        std::string question;
        for (int i = 0; i < 240; ++i) question += part;
        std::size_t seen = 0;
        CHECK(growth(
                  [&](std::size_t n) {
                      seen += k.read(std::string_view(question).substr(0, n * part.size())).probes.size();
                  },
                  120) <= 2.5);
        CHECK(seen > 0);
    }
}

TEST_CASE("sixty questions over two schemas, written before the reader, are read right") {
    const auto right_of = [](const corpus& c, std::vector<field_hint> hints, const std::string& name) {
        const field_catalog fields(c, std::move(hints));
        const schema_reader reader(fields, {.today = date_time::day(2026, 3, 10)});
        std::size_t right = 0;
        for (const auto& q : filter_sets::questions_of(golden + "/" + name)) {
            const probed_query p = reader.read(q.text);
            const std::string read = filter_sets::canonical(p.narrowed, c.fields()),
                              wanted = filter_sets::canonical(q.right, c.fields());
            if (read == wanted && p.limit == q.limit)
                ++right;
            else
                UNSCOPED_INFO(q.id << " " << q.text << "\n  read   " << read << "\n  wanted " << wanted);
        }
        return right;
    };
    const corpus help = filter_sets::help_centre(std::string(QUARRY_SOURCE_DIR) + "/examples/help_centre/articles");
    CHECK(help.size() == 72);
    CHECK(right_of(help, {{.field = "tags", .only_when_named = true}}, "help_centre.jsonl") == 30);
    CHECK(right_of(recipes(), {}, "recipes.jsonl") == 30);
}
