// A thousand random histories of a library: changes, merges, saving and loading; and after each of them what a build
// from nothing gives. QUARRY_SEQUENCES=100000 for a long run, QUARRY_FIRST_SEED for other histories.
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "quarry/store/save_library.hpp"
#include "support/catch.hpp"
#include "support/living.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

unsigned long number_from(const char* name, unsigned long otherwise) {
    const char* given = std::getenv(name);
    return given ? std::stoul(given) : otherwise;
}

}  // namespace

TEST_CASE("after any history a library answers as a build of what is in it, also loaded from a file") {
    const unsigned long first = number_from("QUARRY_FIRST_SEED", 1), count = number_from("QUARRY_SEQUENCES", 1000);
    const living::embedder embed;
    for (unsigned long seed = first; seed < first + count; ++seed) {
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
        const std::size_t limit = std::size_t{1} << (random() % 9);
        auto kb = std::make_unique<living::library>(embed, living::layers(), living::options(limit));
        std::map<std::string, article> articles;
        const std::size_t steps = 1 + random() % 12;
        for (std::size_t step = 0; step < steps; ++step) {
            change c;
            std::map<std::string, bool> named;
            for (std::size_t n = 1 + random() % 4; n != 0; --n) {
                const std::string id = std::to_string(random() % 12);
                if (!named.try_emplace(id).second) continue;
                if (random() % 3 == 0) {
                    c.remove.push_back(id);
                    articles.erase(id);
                } else if (articles.contains(id) && random() % 4 == 0) {
                    c.upsert.push_back(articles[id]);  // as it is
                } else {
                    c.upsert.push_back(living::random_article(random, id));
                    articles[id] = c.upsert.back();
                }
            }
            kb->apply(c);
            if (random() % 6 == 0) kb->merge();
            if (random() % 4 == 0) {
                memory_files files;
                save("kb", *kb, {.files = &files});
                auto again = std::make_unique<living::library>(embed, living::layers(), living::options(limit));
                load("kb", *again, {.files = &files});
                save("again", *again, {.files = &files});
                INFO("seed " << seed << ", step " << step);
                REQUIRE(files.files.at("again") == files.files.at("kb"));
                kb = std::move(again);
            }
        }
        INFO("seed " << seed << ", parts " << kb->now()->parts());
        REQUIRE(living::difference(*kb->now(), articles, embed) == "");
    }
}
