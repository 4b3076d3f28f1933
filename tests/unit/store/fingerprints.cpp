#include "quarry/store/fingerprints.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace quarry;

TEST_CASE("what differs is named with both values, also where one side says nothing") {
    const fingerprints a{{"embedder", "model-a"}, {"chunker", "v1"}};
    CHECK(code_of([&] {
              detail::require_same(a, fingerprints{{"chunker", "v1"}, {"embedder", "model-a"}});
          }) == "(no exception)");
    const auto message = [&](const fingerprints& here) { return message_of([&] { detail::require_same(a, here); }); };
    CHECK(message({{"embedder", "model-b"}, {"chunker", "v1"}})
              .find("the file's embedder is \"model-a\", this program's is \"model-b\"") != std::string::npos);
    CHECK(message({{"embedder", "model-a"}}).find("the file's chunker is \"v1\", this program's is not stated") !=
          std::string::npos);
    CHECK(message({{"embedder", "model-a"}, {"chunker", "v1"}, {"prompts", "3"}})
              .find("the file's prompts is not stated, this program's is \"3\"") != std::string::npos);
}

TEST_CASE("fingerprints are written in the order of their names, whatever order they were set in") {
    const auto bytes = [](const fingerprints& f) {
        std::string out;
        detail::write_fingerprints(f, detail::byte_writer(out));
        return out;
    };
    fingerprints a{{"b", "2"}, {"a", "1"}};
    CHECK(bytes(a) == bytes(fingerprints{{"a", "1"}, {"b", "2"}}));
    CHECK(detail::read_fingerprints(detail::byte_reader(bytes(a), "made with")) == a);
    a.set("a", "3");
    CHECK(*a.find("a") == "3");
    CHECK(a.size() == 2);
}
