// Notices: what was repaired, left out or found odd in a model's reply.
//
// A reply is never refused silently and never repaired silently: whoever reads one notices, and whoever asked counts.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE {

enum class noticed : std::uint8_t {
    empty,           // nothing was left, or nothing with a letter in it
    truncated,       // a limit of tokens ended the reply
    over_limit,      // more bytes or questions than are looked at
    template_token,  // a token of a chat format; the reply was cut there
    runs_on,         // the model began the next prompt; the reply was cut there
    reasoning,       // a block of thought before the answer was left out
    fence,           // a Markdown fence; taken off where it was around everything
    preamble,        // the answer was announced
    label,           // the answer had a name in front
    closing,         // a remark to the reader after the answer was left out
    refusal,         // the model declined
    list,            // prose was asked for, a list came
    too_long,        // more sentences than asked for and one
    loop,            // the same words again and again
    copies_prompt,   // more than half of it stands in the prompt word for word
    numbering,       // questions were numbered
    bullets,         // or had bullets
    not_a_question,  // a line that is no question was left out
    duplicates,      // a question came twice
    count,           // another number of questions than asked for
};

constexpr std::size_t noticed_kinds = static_cast<std::size_t>(noticed::count) + 1;

constexpr std::string_view name_of(noticed n) noexcept {
    constexpr std::string_view names[noticed_kinds] = {
        "empty",         "truncated", "over_limit", "template_token", "runs_on",    "reasoning", "fence",
        "preamble",      "label",     "closing",    "refusal",        "list",       "too_long",  "loop",
        "copies_prompt", "numbering", "bullets",    "not_a_question", "duplicates", "count"};
    return names[static_cast<std::size_t>(n)];
}

/// A set of what was noticed.
class notices {
   public:
    constexpr notices() = default;
    constexpr notices(std::initializer_list<noticed> all) {
        for (const noticed n : all) add(n);
    }

    constexpr void add(noticed n) noexcept { bits_ |= std::uint32_t{1} << static_cast<unsigned>(n); }
    constexpr void add_if(bool condition, noticed n) noexcept {
        if (condition) add(n);
    }
    constexpr bool has(noticed n) const noexcept { return (bits_ >> static_cast<unsigned>(n) & 1u) != 0; }
    constexpr bool none() const noexcept { return bits_ == 0; }

    /// "loop, truncated"; empty for none.
    std::string names() const {
        std::string out;
        for (std::size_t i = 0; i < noticed_kinds; ++i)
            if (has(static_cast<noticed>(i)))
                out += (out.empty() ? "" : ", ") + std::string(name_of(static_cast<noticed>(i)));
        return out;
    }
    friend constexpr bool operator==(const notices&, const notices&) = default;

   private:
    std::uint32_t bits_ = 0;
};

/// How many replies each thing was noticed in.
class notice_counts {
   public:
    void add(const notices& n) noexcept {
        for (std::size_t i = 0; i < noticed_kinds; ++i) counts_[i] += n.has(static_cast<noticed>(i));
    }
    std::size_t operator[](noticed n) const noexcept { return counts_[static_cast<std::size_t>(n)]; }
    friend bool operator==(const notice_counts&, const notice_counts&) = default;

   private:
    std::array<std::size_t, noticed_kinds> counts_{};
};

}  // namespace QUARRY_NAMESPACE
