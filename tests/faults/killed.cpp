// Processes that are killed at random times, while they save, pay and build: afterwards the file loads, whole and old
// or new, the journal has every append that returned, and a build goes on where it stopped. QUARRY_KILLS=1000 for a
// long run.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <thread>

#include "quarry/store/journal.hpp"
#include "quarry/store/save_library.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/living.hpp"
#include "support/paid_build.hpp"

using namespace quarry;

namespace {

std::size_t kills() {
    const char* given = std::getenv("QUARRY_KILLS");
    return given ? std::stoul(given) : 40;
}

// Runs `work(progress)` in a process of its own and kills it after it has counted `progress` to 1 and some time more.
template <class Work>
std::uint64_t killed_during(std::mt19937& random, Work work) {
    void* shared =
        ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    auto* progress = new (shared) std::atomic<std::uint64_t>(0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        try {
            work(*progress);
        } catch (...) {
        }
        ::_exit(1);
    }
    while (progress->load() == 0 && ::waitpid(child, nullptr, WNOHANG) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));  // it did not end by itself
    const std::uint64_t reached = progress->load();
    ::munmap(shared, sizeof(std::atomic<std::uint64_t>));
    return reached;
}

}  // namespace

TEST_CASE("a process killed while it saves leaves a file that loads, whole") {  // 109: opendal 8315
    const temporary_folder folder;
    std::mt19937 random(3);
    living::library kb({}, living::layers(), living::options(4));
    for (int i = 0; i < 20; ++i) kb.upsert(living::random_article(random, std::to_string(i)));
    save(folder / "kb", kb);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kills(); ++i) {
        killed_during(random, [&](std::atomic<std::uint64_t>& progress) {
            for (std::uint64_t round = 1;; ++round) {
                kb.upsert({.id = "round", .text = std::to_string(round)});
                save(folder / "kb", kb);
                progress = round;
            }
        });
        try {
            living::library again({}, living::layers(), living::options(4));
            load(folder / "kb", again);
            wrong += again.now()->articles() != 20 && again.now()->articles() != 21;
        } catch (const error& e) {
            UNSCOPED_INFO(e.what());
            ++wrong;
        }
        // What an interrupted save leaves is recognised by its name.
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
            const std::string name = entry.path().filename().string();
            if (name == "kb") continue;
            wrong += name != "kb.0.tmp";
            std::filesystem::remove(entry.path());
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a process killed while it pays has on disk whatever an append returned for") {
    const temporary_folder folder;
    std::mt19937 random(4);
    std::uint64_t promised = 0, all = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kills(); ++i) {
        // Three processes in a row go on with one journal; with more, most of the test would be reading it.
        const std::string path = folder / std::to_string(i / 3);
        if (i % 3 == 0) promised = 0;
        const std::uint64_t reached = killed_during(random, [&](std::atomic<std::uint64_t>& progress) {
            journal work(path, {.sync = false});  // a kill is no power cut
            for (std::uint64_t round = 1;; ++round) {
                work.append(
                    {"model", "1", detail::sha256_of(std::to_string(round)), completion(std::string(100, 'x'))});
                progress = round;
            }
        });
        promised += reached;
        all += reached;
        const journal work(path);
        wrong += work.recovered() < promised;
        promised = work.recovered();  // the last one may have been written and not counted
    }
    CHECK(wrong == 0);
    CHECK(all > kills());
}

TEST_CASE("a build that was killed goes on where it stopped, and makes what an undisturbed one makes") {
    const temporary_folder folder;
    const auto calm = paid::note_taker();
    paid::books calm_books(folder / "calm", {.sync = false});
    const std::string undisturbed = paid::build_all(calm_books, calm);
    std::mt19937 random(5);
    std::size_t lost = 0, calls = 0, wrong = 0, in_the_middle = 0;
    for (std::size_t i = 0; i < kills(); ++i) {
        const std::string path = folder / std::to_string(i);
        const std::uint64_t asked = killed_during(random, [&](std::atomic<std::uint64_t>& progress) {
            paid::books b(path, {.sync = false});
            paid::build_all(b, paid::note_taker([&] {
                                ++progress;
                                std::this_thread::sleep_for(std::chrono::microseconds(300));
                            }));
            ::pause();
        });
        paid::books b(path, {.sync = false});
        const std::size_t kept = b.replies.size();
        lost += kept + 1 < asked;  // the last one may not have come back
        in_the_middle += kept < calm.calls();
        const auto g = paid::note_taker();
        wrong += paid::build_all(b, g) != undisturbed;
        calls += g.calls() != calm.calls() - kept;
    }
    CHECK(lost == 0);
    CHECK(wrong == 0);
    CHECK(calls == 0);
    CHECK(in_the_middle > 0);
}
