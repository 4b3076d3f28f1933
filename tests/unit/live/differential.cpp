// Random changes to a library, and after each of them what a build from nothing would give.
#include <map>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/living.hpp"

using namespace quarry;

TEST_CASE("after any sequence of changes a library answers as a build of what is in it") {
    constexpr unsigned sequences = 25;  // tests/sequences has more
    const living::embedder embed;
    for (unsigned seed = 1; seed <= sequences; ++seed) {
        std::mt19937 random(seed);
        // Small limits and large ones: everything in many parts, in few, in one.
        living::library kb(embed, living::layers(), living::options(std::size_t{1} << (random() % 9)));
        std::map<std::string, article> articles;
        for (int step = 0; step < 5; ++step) {
            change c;
            std::map<std::string, bool> named;
            for (std::size_t n = 1 + random() % 4; n != 0; --n) {
                const std::string id = std::to_string(random() % 12);
                if (!named.try_emplace(id).second) continue;
                if (random() % 3 == 0) {
                    c.remove.push_back(id);
                    articles.erase(id);
                } else {
                    c.upsert.push_back(living::random_article(random, id));
                    articles[id] = c.upsert.back();
                }
            }
            const auto before = kb.now();
            kb.apply(c);
            if (random() % 5 == 0) kb.merge();
            INFO("seed " << seed << ", step " << step << ", parts " << kb.now()->parts());
            REQUIRE(living::difference(*kb.now(), articles, embed) == "");
        }
    }
}
