// Programs that are started anew: what they answer and write does not depend on where things lie in memory.
#include <unistd.h>

#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "quarry/store/save_library.hpp"
#include "support/catch.hpp"
#include "support/living.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

// The file of a library after some changes, and what eight threads that ask it at once are answered.
std::uint64_t digest_of_run() {
    living::library kb({}, living::layers(), living::options(8));
    std::mt19937 random(6);
    for (int i = 0; i < 30; ++i) {
        kb.upsert(living::random_article(random, std::to_string(random() % 20)));
        if (i % 5 == 4) kb.remove(std::to_string(random() % 20));
    }
    memory_files files;
    save("kb", kb, {.files = &files});
    std::vector<std::string> answers(8);
    std::vector<std::thread> running;
    for (std::string& mine : answers)
        running.emplace_back([&] {
            const auto now = kb.now();
            for (const query& q : living::questions())
                for (const auto& [id, score] :
                     living::ask(hybrid(lexical(now->bm25()), dense(now->vectors(), living::embedder{})), q, 8).hits)
                    mine += id + ' ' + std::to_string(score) + ' ';
        });
    for (auto& thread : running) thread.join();
    detail::xxh64 all;
    all.add(files.files.at("kb"));
    for (const std::string& mine : answers) {
        CHECK(mine == answers.front());
        all.add(mine);
    }
    return all.finish();
}

}  // namespace

// Hidden: the test below starts it.
TEST_CASE("a digest is printed", "[.started]") { std::printf("digest %016llx\n", static_cast<unsigned long long>(digest_of_run())); }

TEST_CASE("twenty programs that are started one after the other write the same bytes and give the same answers") {
    char self[4096];
    const auto length = ::readlink("/proc/self/exe", self, sizeof self);
    REQUIRE(length > 0);
    const std::string command = "'" + std::string(self, static_cast<std::size_t>(length)) + "' '[.started]'";
    std::set<std::string> digests;
    for (int i = 0; i < 20; ++i) {
        FILE* const said = ::popen(command.c_str(), "r");
        REQUIRE(said != nullptr);
        std::string digest;
        char line[256];
        while (std::fgets(line, sizeof line, said))
            if (std::string_view(line).starts_with("digest ")) digest = line;
        CHECK(::pclose(said) == 0);
        digests.insert(digest);
    }
    char expected[32];
    std::snprintf(expected, sizeof expected, "digest %016llx\n", static_cast<unsigned long long>(digest_of_run()));
    CHECK(digests == std::set<std::string>{expected});
}
