#include "quarry/store/save_tree.hpp"

#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_files.hpp"
#include "support/stored.hpp"

using namespace quarry;

namespace {

raptor_tree small_tree() {
    raptor_tree tree{.maker = "summary/1 model", .leaves = {{"a#0-4", "12"}, {"b", ""}, {"c", "34"}}};
    tree.summaries.push_back({"s1", {"a#0-4", "b"}, "Both.", "Title", 1, "", {0.5f, -0.25f}});
    tree.summaries.push_back({"s2", {"s1", "c"}, "", "", 2, "tenant\nx", {}});
    return tree;
}

std::string written(const raptor_tree& tree) {
    std::string bytes;
    detail::saved<raptor_tree>::write(tree, detail::byte_writer(bytes));
    return bytes;
}

raptor_tree read(const std::string& bytes) {
    return detail::saved<raptor_tree>::read(detail::byte_reader(bytes, "tree"));
}

}  // namespace

TEST_CASE("a tree comes back from its file as it was") {
    memory_files files;
    const raptor_tree tree = small_tree();
    save("kb.tree", tree, {.files = &files});
    const raptor_tree again = load_tree("kb.tree", {.files = &files});
    CHECK(again.maker == tree.maker);
    CHECK(again.leaves == tree.leaves);
    REQUIRE(again.summaries.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const raptor_node &a = again.summaries[i], &b = tree.summaries[i];
        CHECK(a.id == b.id);
        CHECK(a.sources == b.sources);
        CHECK(a.text == b.text);
        CHECK(a.title == b.title);
        CHECK(a.layer == b.layer);
        CHECK(a.tree == b.tree);
        CHECK(a.centre == b.centre);
    }
    CHECK(written(again) == written(tree));
}

TEST_CASE("a tree of something else than is asked for is refused, and so is a file without one") {
    memory_files files;
    save("kb.tree", small_tree(), {.made_with = {{"embedder", "one"}}, .files = &files});
    CHECK(code_of([&] { load_tree("kb.tree", {.made_with = {{"embedder", "other"}}, .files = &files}); }) ==
          "store.fingerprint");
    files.files["kb.tree"].back() ^= 1;
    CHECK_THROWS_AS(load_tree("kb.tree", {.files = &files}), data_error);
    CHECK(code_of([&] { load_tree("nothing", {.files = &files}); }) == "file.open");
}

TEST_CASE("a tree that a stranger changed is refused, or is what would be written") {
    const std::string bytes = written(small_tree());
    CHECK(stored::refuses_or_keeps(bytes, [](const std::string& changed) { return written(read(changed)); }) > 100);
    raptor_tree broken = small_tree();
    broken.summaries[0].centre[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK(code_of([&] { read(written(broken)); }) == "store.malformed");
}
