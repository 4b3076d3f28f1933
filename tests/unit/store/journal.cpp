#include "quarry/store/journal.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/memory_files.hpp"

using namespace quarry;

namespace {

paid_reply reply_to(const std::string& asked, const std::string& text) {
    paid_reply r{"model-a", "contexts-1", detail::sha256_of(asked), completion(text)};
    if (text.size() % 2 == 0) r.reply.used = token_usage{10, 20, 30, text.size()};
    r.reply.cut_off = text.size() % 3 == 0;
    return r;
}

std::vector<paid_embedding> rows_of(const std::string& text) {
    return {{"letters", role::document, detail::sha256_of(text), {1.0f, -2.5f}},
            {"letters", role::query, detail::sha256_of(text), {0.0f, 1e-30f}}};
}

// What a journal holds, in words.
std::string told(std::span<const char> bytes) {
    std::string out;
    const auto whole = read_journal(
        bytes,
        [&](const paid_reply& r) {
            out += detail::concat(r.model, ' ', r.version, ' ', detail::hexadecimal(r.prompt, 2), ' ', r.reply.text,
                                  ' ', r.reply.cut_off, ' ', r.reply.used ? r.reply.used->total() : 0, '\n');
        },
        [&](const paid_embedding& e) {
            out += detail::concat(e.embedder, ' ', e.as == role::query, ' ', detail::hexadecimal(e.text, 2));
            for (const float x : e.row) out += detail::concat(' ', x);
            out += '\n';
        });
    return out + detail::concat(whole, '\n');
}

// A journal of three appends, and where each ended.
struct three_appends {
    memory_files files{};
    std::vector<std::size_t> ends{};
    std::string bytes{};

    three_appends() {
        journal work("work", {.files = &files});
        ends.push_back(files.files["work"].size());
        work.append(reply_to("a", "a reply"));
        ends.push_back(files.files["work"].size());
        work.append(rows_of("text"));
        ends.push_back(files.files["work"].size());
        work.append(reply_to("b", "another, longer reply"));
        ends.push_back(files.files["work"].size());
        bytes = files.files["work"];
    }
};

}  // namespace

TEST_CASE("what was appended comes back when the journal is opened again, and goes on from there") {
    const temporary_folder folder;
    const std::string path = folder / "work";
    {
        journal work(path);
        CHECK(work.recovered() == 0);
        work.append(reply_to("a", "a reply"));
        work.append(rows_of("text"));
    }
    {
        journal work(path);
        CHECK(work.recovered() == 3);
        CHECK(work.torn() == 0);
        work.append(reply_to("b", "second"));
    }
    journal work(path);
    reply_store replies;
    embedding_store rows;
    work.replay(replies, rows);
    CHECK(replies.size() == 2);
    CHECK(rows.size() == 2);
    float row[2];
    CHECK(rows.find("letters", role::document, "text", row));
    CHECK(row[1] == -2.5f);
    CHECK_FALSE(rows.find("other", role::document, "text", row));
}

TEST_CASE("a record comes back whole: tokens, cut-off, empty texts, bytes that are no UTF-8") {
    memory_files files;
    paid_reply odd{"", "", {}, completion(std::string("\0\xff", 2), true, token_usage{1, 2, 3, 4})};
    {
        journal work("work", {.files = &files});
        work.append(odd);
    }
    std::vector<paid_reply> read;
    read_journal(
        files.files["work"], [&](paid_reply r) { read.push_back(std::move(r)); }, [](const paid_embedding&) {});
    REQUIRE(read.size() == 1);
    CHECK(read[0].reply == odd.reply);
    CHECK(read[0].prompt == odd.prompt);
}

TEST_CASE("a journal cut off anywhere keeps every whole append and nothing of a half one") {
    const three_appends all;
    for (std::size_t length = 0; length <= all.bytes.size(); ++length) {
        std::size_t whole = 0;
        while (whole + 1 < all.ends.size() && all.ends[whole + 1] <= length) ++whole;
        const std::size_t kept = length < all.ends[0] ? 0 : all.ends[whole];
        const std::string cut = all.bytes.substr(0, length);
        REQUIRE(told(cut) == told(all.bytes.substr(0, kept)));
        // Opened and appended to, it is as if the torn append had never begun.
        memory_files files;
        files.files["work"] = cut;
        journal work("work", {.files = &files});
        REQUIRE(work.torn() == length - kept);
        work.append(reply_to("c", "next"));
        const std::string now = files.files["work"];
        REQUIRE(now.substr(0, kept) == all.bytes.substr(0, kept));
        REQUIRE(told(now).find("next") != std::string::npos);
    }
}

TEST_CASE("a flipped bit never becomes a record: the last append is lost, an earlier one is an error") {
    const three_appends all;
    for (std::size_t bit = 0; bit < 8 * all.bytes.size(); ++bit) {
        std::string damaged = all.bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        std::string what;
        const std::string code = code_of([&] { what = told(damaged); });
        INFO("bit " << bit);
        if (bit / 8 < all.ends[0])
            REQUIRE((code == "journal.not_ours" || code == "journal.version"));
        else if (bit / 8 < all.ends[2])
            REQUIRE(code == "journal.damaged");
        else
            REQUIRE(what == told(all.bytes.substr(0, all.ends[2])));
    }
}

TEST_CASE("damage before the end can be given up, and it is said how much") {
    three_appends all;
    std::string& bytes = all.files.files["work"];
    bytes[all.ends[1] + 30] ^= 1;
    CHECK(code_of([&] { journal work("work", {.files = &all.files}); }) == "journal.damaged");
    const journal work("work", {.cut_damage = true, .files = &all.files});
    CHECK(work.recovered() == 1);
    CHECK(work.torn() == all.ends[3] - all.ends[1]);
}

TEST_CASE("other files are no journals") {
    CHECK(code_of([] { told(std::string_view("\x89PNG\r\n\x1a\n")); }) == "journal.not_ours");
    CHECK(code_of([] { told(std::string_view("text")); }) == "journal.not_ours");
    CHECK(told(std::string_view("")) == "0\n");
}

TEST_CASE("an append that fails has appended nothing, and the next one works") {
    bool failed = true;
    for (std::size_t n = 0; failed; ++n) {
        three_appends all;
        journal work("work", {.files = &all.files});
        all.files.reset(n);
        const std::string code = code_of([&] {
            work.append(rows_of("more"));
            work.append(reply_to("d", "more"));
        });
        failed = all.files.failed();
        CHECK(code == (failed ? "file.injected" : "(no exception)"));
        all.files.reset();
        work.append(reply_to("e", "last"));
        const std::string what = told(all.files.files["work"]);
        CHECK(what.find("last") != std::string::npos);
        const std::size_t lines = static_cast<std::size_t>(std::ranges::count(what, '\n'));
        // Four records and two lines more for each append that worked: a pair of rows, then a reply.
        CHECK(lines == 6u + (failed ? (n < 2 ? 0u : 2u) : 3u));
    }
}

TEST_CASE("a build that dies goes on where it stopped: nothing is paid for twice") {
    memory_files files;
    std::size_t calls = 0, most = 3;
    const auto model = [&](const prompt& p) -> std::string {
        if (calls == most) throw std::runtime_error("killed");
        ++calls;
        return "about " + std::string(p.fresh());
    };
    const auto run = [&] {
        journal work("work", {.files = &files});
        reply_store replies([&](const paid_reply& r) { work.append(r); });
        embedding_store rows([&](std::span<const paid_embedding> e) { work.append(e); });
        work.replay(replies, rows);
        const auto ask = cached(model, replies, "model-a");
        std::string all;
        for (int i = 0; i < 5; ++i) all += ask(prompt(std::to_string(i))).text + '\n';
        return all;
    };
    CHECK_THROWS(run());
    most = 100;
    CHECK(run() == "about 0\nabout 1\nabout 2\nabout 3\nabout 4\n");
    CHECK(calls == 5);
}
