// Data that lives: a library of articles that come, change and go, saved in between.
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "quarry/expand/identity.hpp"
#include "quarry/live/library.hpp"
#include "quarry/quarry.hpp"
#include "quarry/store/save_library.hpp"

int main(int argc, char* argv[]) {
    using namespace quarry;
    const std::string path = argc > 1 ? argv[1] : "library.quarry";

    // An embedder of your own would stand here. This one counts letters, so that the example needs no model.
    const auto embed = make_embedder(26,
                                     [](std::string_view text) {
                                         std::vector<float> row(26, 0.01f);
                                         for (const char c : text)
                                             if (c >= 'a' && c <= 'z') row[static_cast<std::size_t>(c - 'a')] += 1.0f;
                                         return row;
                                     },
                                     {.name = "letters"});
    const auto search_in = [&](const auto& kb, std::string_view asked) {
        const auto found = over(kb, [&](const generation& now) {
                               return hybrid(lexical(now.bm25()), dense(now.vectors(), embed));
                           }).retrieve(std::string(asked), 1);
        std::cout << "  " << asked << " -> " << (found.empty() ? "nothing" : found.unit(found[0]).title()) << '\n';
    };

    std::cout << "Two articles come.\n";
    library kb(embed, {layer(quarry::identity{}, "1")});
    const article reset{.id = "reset", .title = "Reset a password", .text = "Open the settings and choose a new one."};
    kb.upsert_all({reset, {.id = "bill", .title = "Read a bill", .text = "Every bill lists the charges of a month."}});
    search_in(kb, "password");

    std::cout << "One changes; the plan says what that will cost.\n";
    change c;
    c.upsert = {reset, {.id = "bill", .title = "Read an invoice", .text = "An invoice lists the charges of a month."}};
    const change_plan plan = kb.plan(c);
    std::cout << "  unchanged " << plan.unchanged << ", replaced " << plan.replaced << ", to embed "
              << plan.texts_to_embed << '\n';
    const auto before = kb.now();  // a reader keeps what it pinned
    kb.apply(c);
    search_in(kb, "invoice");
    std::cout << "  who pinned the library before still finds " << lexical(before->bm25()).retrieve("invoice", 5).size()
              << " invoices\n";

    std::cout << "It is saved, and loaded by another.\n";
    std::cout << "  durability " << name_of(save(path, kb)) << '\n';
    library again(embed, {layer(quarry::identity{}, "1")});
    load(path, again);
    search_in(again, "invoice");
    again.remove("bill");
    std::cout << "  removed there, it has " << again.now()->articles() << " article\n";

    std::cout << "A library of another embedder refuses the file.\n";
    const auto other =
        make_embedder(26, [](std::string_view) { return std::vector<float>(26, 1.0f); }, {.name = "other"});
    library stranger(other, {layer(quarry::identity{}, "1")});
    try {
        load(path, stranger);
    } catch (const usage_error& e) {
        std::cout << "  " << e.what() << '\n';
    }
    if (argc == 1) std::remove(path.c_str());
}
