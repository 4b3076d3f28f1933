// Fingerprints: what a saved base was made with, by name.
//
// Vectors of one model and questions of another have the same width and meet nowhere, which no error tells. So a file
// records who made it (embedder, analyzer, chunker, versions of prompts), and is refused where one of them differs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "bytes.hpp"

namespace QUARRY_NAMESPACE {

/// Names and values, each name once, in the order of the names. `embedder`, `dimension`, `analyzer` and `scale` are
/// recorded by the library; the rest is the caller's: whatever must be the same for the file to make sense.
class fingerprints {
   public:
    using entry = std::pair<std::string, std::string>;

    fingerprints() = default;
    fingerprints(std::initializer_list<entry> entries) {
        for (const entry& e : entries) set(e.first, e.second);
    }

    fingerprints& set(std::string name, std::string value) {
        const auto at = std::ranges::lower_bound(entries_, name, {}, &entry::first);
        if (at != entries_.end() && at->first == name)
            at->second = std::move(value);
        else
            entries_.emplace(at, std::move(name), std::move(value));
        return *this;
    }

    /// The value, or null.
    const std::string* find(std::string_view name) const noexcept {
        for (const entry& e : entries_)
            if (e.first == name) return &e.second;
        return nullptr;
    }

    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }

    friend bool operator==(const fingerprints&, const fingerprints&) = default;

   private:
    std::vector<entry> entries_;
};

namespace detail {

/// Errors  usage_error `store.fingerprint` with the first name that differs and both values; a name that only one side
///         has differs from nothing.
inline void require_same(const fingerprints& in_file, const fingerprints& here) {
    const auto value = [](const fingerprints& all, const std::string& name) {
        const std::string* found = all.find(name);
        return found ? detail::quoted(*found) : std::string("not stated");
    };
    for (const fingerprints* side : {&in_file, &here})
        for (const auto& [name, ignored] : *side)
            if (value(in_file, name) != value(here, name))
                raise<usage_error>("store.fingerprint",
                                   concat("quarry: the file's ", name, " is ", value(in_file, name),
                                          ", this program's is ", value(here, name)));
}

template <class Out>
void write_fingerprints(const fingerprints& f, byte_writer<Out> out) {
    out.count(f.size());
    for (const auto& [name, value] : f) {
        out.text(name);
        out.text(value);
    }
}

inline fingerprints read_fingerprints(byte_reader in) {
    fingerprints out;
    std::string last;
    for (std::size_t n = in.count(16); n != 0; --n) {
        std::string name(in.text()), value(in.text());
        if (out.size() != 0 && name <= last) in.refuse("the names are not in order");
        last = name;
        out.set(std::move(name), std::move(value));
    }
    in.require_end();
    return out;
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
