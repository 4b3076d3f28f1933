// The ledger: how every score of an answer came about.
//
// A flat pool of entries per request. An entry says which stage made a number, from which rank and raw score, with
// which weight, and by which key. `from` leads to the entry it was computed from, `beside` to the next contribution to
// the same sum; a hit holds the place of its last entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../config.hpp"
#include "ids.hpp"
#include "key.hpp"

namespace QUARRY_NAMESPACE {

inline constexpr std::uint32_t no_entry = UINT32_MAX;

struct ledger_entry {
    std::string_view stage;           // a literal
    const key_table* keys = nullptr;  // where `key` belongs to, or null
    key_id key = no_key;
    std::uint32_t rank = 0;  // 1 is first; 0 where a stage has no ranks
    float raw = 0.0f;        // the score that went in
    float weight = 1.0f;
    float score = 0.0f;      // what this entry contributed
    std::uint32_t from = no_entry;
    std::uint32_t beside = no_entry;
};

class ledger {
   public:
    std::uint32_t note(const ledger_entry& entry) {
        entries_.push_back(entry);
        return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    /// Makes room for so many more at once.
    void expect(std::size_t entries) {
        if (entries_.capacity() - entries_.size() < entries)
            entries_.reserve((std::max)(2 * entries_.capacity(), entries_.size() + entries));
    }
    /// Takes over the entries of another, which then begin at the place returned. An entry of `other` names only
    /// entries of `other`.
    std::uint32_t append(const ledger& other) {
        const auto by = static_cast<std::uint32_t>(entries_.size());
        expect(other.entries_.size());
        for (ledger_entry e : other.entries_) {
            if (e.from != no_entry) e.from += by;
            if (e.beside != no_entry) e.beside += by;
            entries_.push_back(e);
        }
        return by;
    }
    const ledger_entry& operator[](std::uint32_t place) const noexcept { return entries_[place]; }
    std::size_t size() const noexcept { return entries_.size(); }

   private:
    std::vector<ledger_entry> entries_;
};

}  // namespace QUARRY_NAMESPACE
