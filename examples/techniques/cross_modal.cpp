// Cross-modal: one index for captions, one for pictures, each with its own model, fused by rank. More are more legs.
#include <array>
#include <iostream>
#include <quarry/quarry.hpp>

using namespace quarry;

namespace {

// Stand-ins for a text embedder and for the text side of a picture embedder. Their spaces have nothing in common: a
// cosine of one says nothing about a cosine of the other, which is why ranks are fused and not scores.
std::vector<float> text_model(std::string_view text) {
    std::vector<float> row{.01f, .01f, .01f};
    constexpr std::array words{"hub", "valve", "light"};
    for (std::size_t i = 0; i < 3; ++i)
        if (text.find(words[i]) != std::string_view::npos) row[i] = 1.0f;
    return row;
}
std::vector<float> picture_model(std::string_view text) {
    return text.find("red") != std::string_view::npos ? std::vector<float>{.9f, .1f} : std::vector<float>{.1f, .9f};
}

}  // namespace

int main() {
    // An asset is one unit, whatever it is found by. Its picture's row comes from the picture side of the same model.
    corpus assets;
    assets.add({.id = "manual", .title = "How to place the hub", .text = "where the hub stands"});
    assets.add({.id = "photo-1", .title = "Photo of a hub, red light", .text = "hub with its light on"});
    assets.add({.id = "photo-2", .title = "Photo of a red valve", .text = "valve"});
    const auto captions = build(assets, identity{}, make_embedder(3, text_model));
    indexed<flat_index> pictures{flat_index(2), assets};
    const float rows[][2] = {{.95f, .05f}, {.8f, .2f}};
    pictures.index.add(unit_id{1}, rows[0]);
    pictures.index.add(unit_id{2}, rows[1]);

    const auto by_picture = make_embedder(2, picture_model);
    const auto both =
        fuse(rrf{}, dense(captions.vectors, make_embedder(3, text_model)), dense(pictures, by_picture));
    const auto print = [](const char* heading, const auto& found) {
        std::cout << heading << '\n';
        for (const auto& hit : found) {
            std::cout << "    " << found.unit(hit).title() << " (";
            std::size_t legs = 0;  // of the fusion, each with the rank it gave
            for (auto at = found.notes()[hit.trail].from; at != no_entry; at = found.notes()[at].beside)
                std::cout << (legs++ ? ", " : "") << "rank " << found.notes()[at].rank;
            std::cout << ")\n";
        }
    };
    print("a hub with a red light", both.retrieve("hub with a red light", 3));
    // A picture asks, alone or beside words: its row is what the picture side made of it. Filter and scope hold in every
    // leg.
    const std::vector<float> snapshot{.85f, .15f};
    print("a snapshot", both.retrieve(query("").with_row(by_picture, snapshot), 3));
    print("a snapshot and \"light\"", both.retrieve(query("light").with_row(by_picture, snapshot), 3));
    // An asset asks: its rows are in the indexes already.
    print("like photo-1", both.retrieve(like(unit_id{1}), 3));
}
