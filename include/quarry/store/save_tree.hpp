// Save and load a tree of summaries: a program that is started again grows on from it and pays for no summary twice.
//
//     save("kb.tree", grown->growth().tree);
//     grown = grow(tree, kb.now(), load_tree("kb.tree"));
//
// A tree names units by their string ids and may be older than what it is grown over: whatever changed since is made
// again. One of another maker, wording or model, is loaded and not used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/floats.hpp"
#include "../detail/saved.hpp"
#include "../grow/raptor.hpp"
#include "bytes.hpp"
#include "container.hpp"
#include "files.hpp"
#include "save.hpp"

namespace QUARRY_NAMESPACE {

/// Errors  those of files.hpp; the file that was there is then what it was.
durability save(const std::string& path, const raptor_tree& tree, const store_options& options = {});

/// Errors  data_error `store.*` for a file that is damaged, cut off, of another version or none of ours; usage_error
///         `store.fingerprint`.
raptor_tree load_tree(const std::string& path, const store_options& options = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

template <>
struct saved<raptor_tree> {
    template <class Out>
    static void write(const raptor_tree& tree, byte_writer<Out> out) {
        out.text(tree.maker);
        out.count(tree.leaves.size());
        for (const auto& [id, words] : tree.leaves) {
            out.text(id);
            out.text(words);
        }
        out.count(tree.summaries.size());
        for (const raptor_node& n : tree.summaries) {
            for (const std::string* text : {&n.id, &n.text, &n.title, &n.tree}) out.text(*text);
            out.count(n.layer);
            out.count(n.sources.size());
            for (const std::string& source : n.sources) out.text(source);
            out.count(n.centre.size());
            out.numbers(std::span<const float>(n.centre));
        }
    }

    static raptor_tree read(byte_reader in) {
        raptor_tree tree;
        tree.maker = in.text();
        for (std::size_t n = in.count(16); n != 0; --n) {
            std::string id(in.text());
            if (!tree.leaves.empty() && id <= tree.leaves.rbegin()->first) in.refuse("ids of units do not ascend");
            tree.leaves.emplace_hint(tree.leaves.end(), std::move(id), in.text());
        }
        for (std::size_t n = in.count(56); n != 0; --n) tree.summaries.push_back(read_node(in));
        in.require_end();
        return tree;
    }

   private:
    static raptor_node read_node(byte_reader& in) {
        raptor_node n;
        for (std::string* text : {&n.id, &n.text, &n.title, &n.tree}) *text = in.text();
        n.layer = in.number<std::uint64_t>();
        for (std::size_t left = in.count(8); left != 0; --left) n.sources.emplace_back(in.text());
        n.centre = in.numbers<float>(in.count(sizeof(float)));
        if (!is_finite(std::span<const float>(n.centre))) in.refuse("a centre holds a NaN or an infinity");
        return n;
    }
};

}  // namespace detail

inline durability save(const std::string& path, const raptor_tree& tree, const store_options& options) {
    return detail::save_container(path, options, [&](container_writer& out) {
        out.section("made with");
        detail::write_fingerprints(options.made_with, detail::byte_writer(out));
        detail::write_section(out, "tree", tree);
    });
}

inline raptor_tree load_tree(const std::string& path, const store_options& options) {
    return detail::read_container(path, options, [&](container& file) {
        detail::require_same(detail::read_fingerprints(file.read("made with")), options.made_with);
        return detail::saved<raptor_tree>::read(file.read("tree"));
    });
}

}  // namespace QUARRY_NAMESPACE
