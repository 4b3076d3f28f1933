// Prompts: values made of two kinds of text, our words and strangers' data.
//
//     prompt_writer w("context/1");
//     w.system("You place passages for a search index.").data("document", article).share();
//     for (chunk : chunks) prompts.push_back(prompt_writer(w).data("chunk", chunk).say("Where is it?").finish());
//
// Data stands between <name mark> and </name mark>. The mark is worked out from the data so that it occurs nowhere in
// it: whatever a document holds, a prompt has one opening and one closing line per piece. Nothing that was inserted is
// read again, so braces and percent signs are text like any other. It is no template engine and knows no placeholders.
//
// What stands before share() is the same bytes in every prompt that is written on. Providers charge a tenth for such a
// prefix when it comes again, and the calls that share one are made in the order that lets them.
//
// The surprising thing: marks are not random. A second run must write the same prompts, or nothing paid for is found
// again. Somebody who knows the rule can still not hit it: a mark that occurs in the data is passed over.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/sha256.hpp"
#include "../detail/template_tokens.hpp"
#include "../detail/text.hpp"

namespace QUARRY_NAMESPACE {

/// What a generator is asked. Cheap to copy where a long prefix is shared: the prefix is not copied.
class prompt {
   public:
    prompt() : prompt(std::string()) {}

    /// A plain text, for callers who write their own: no system part, nothing shared, no version.
    prompt(std::string text) : common_(nothing_shared()), fresh_(std::move(text)) {}  // NOLINT: implicit
    prompt(std::string_view text) : prompt(std::string(text)) {}                      // NOLINT: implicit
    prompt(const char* text) : prompt(std::string(text)) {}                           // NOLINT: implicit

    std::string_view system() const noexcept { return common_->system; }

    // The user's message in two pieces: what other prompts begin with too, and what is this one's own.
    std::string_view shared() const noexcept { return common_->shared; }
    std::string_view fresh() const noexcept { return fresh_; }
    std::string text() const { return detail::concat(common_->shared, fresh_); }

    /// System part and message as one text, for models that take one.
    std::string whole() const {
        return common_->system.empty() ? text() : detail::concat(common_->system, "\n\n", common_->shared, fresh_);
    }

    /// Which wording this is. Change it with the wording: replies are remembered under it.
    std::string_view version() const noexcept { return common_->version; }

    /// How the lines begin by which a model that runs on would start the next prompt of the same kind.
    std::span<const std::string> labels() const noexcept { return labels_; }

    /// A name for version and contents: equal for equal prompts and no others.
    const detail::digest& fingerprint() const noexcept { return fingerprint_; }

    /// Do both begin with the same system part and shared text? Never for prompts that share nothing.
    friend bool share_prefix(const prompt& a, const prompt& b) noexcept {
        return !a.shared().empty() && a.common_->fingerprint == b.common_->fingerprint;
    }
    friend bool operator==(const prompt& a, const prompt& b) noexcept { return a.fingerprint_ == b.fingerprint_; }

   private:
    friend class prompt_writer;

    struct common {
        std::string version, system, shared;
        detail::digest fingerprint = detail::sha256().add_field(version).add_field(system).add_field(shared).finish();
    };

    static const std::shared_ptr<const common>& nothing_shared() {
        static const auto nothing = std::make_shared<const common>();
        return nothing;
    }

    prompt(std::shared_ptr<const common> c, std::string fresh, std::vector<std::string> labels)
        : common_(std::move(c)), fresh_(std::move(fresh)), labels_(std::move(labels)) {}

    std::shared_ptr<const common> common_;
    std::string fresh_;
    std::vector<std::string> labels_{};
    detail::digest fingerprint_ = detail::sha256().add_field(common_->fingerprint).add_field(fresh_).finish();
};

/// Writes a prompt piece by piece. A copy goes on where its original stood.
///
/// Errors  usage_error `prompt.name` for a name of data that is not made of letters, digits, '_' and '-';
///         `prompt.shared` for a second share() or a system part after it.
class prompt_writer {
   public:
    explicit prompt_writer(std::string version = {}) : version_(std::move(version)) {}

    /// Adds to what goes before the conversation. Ours: never a stranger's text.
    prompt_writer& system(std::string_view words);

    /// Adds words of ours to the message.
    prompt_writer& say(std::string_view words);

    /// Adds a text of somebody else's: a document, a title, a question.
    prompt_writer& data(std::string_view name, std::string_view text);

    /// Everything so far is what the prompts written on from here share.
    prompt_writer& share();

    /// Order  the same pieces give the same prompt.
    /// Cost   linear in what was added since share().
    prompt finish() const;

   private:
    struct piece {
        std::string name;  // empty: our own words
        std::string text;
    };

    std::string written(const std::string& mark, bool continued) const;
    std::string own_mark() const;

    std::string version_, system_;
    std::vector<piece> pieces_;  // since share()
    std::vector<std::string> labels_;
    std::string mark_;  // of the shared data
    std::shared_ptr<const prompt::common> common_;
};

// ------------------------------------------------------------------------------------------------------------- detail

inline prompt_writer& prompt_writer::system(std::string_view words) {
    if (common_)
        detail::raise<usage_error>("prompt.shared", "quarry::prompt_writer::system: the system part is shared already");
    if (!system_.empty()) system_ += "\n\n";
    system_ += words;
    return *this;
}

inline prompt_writer& prompt_writer::say(std::string_view words) {
    pieces_.push_back({{}, std::string(words)});
    return *this;
}

inline prompt_writer& prompt_writer::data(std::string_view name, std::string_view text) {
    bool plain = !name.empty();
    for (const char c : name)
        plain = plain &&
                ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-');
    if (!plain)
        detail::raise<usage_error>("prompt.name",
                                   "quarry::prompt_writer::data: a name is made of letters, digits, '_' "
                                   "and '-', this is " +
                                       detail::quoted(name));
    labels_.push_back(detail::concat('<', name, ' '));
    labels_.push_back(detail::concat("</", name));
    pieces_.push_back({std::string(name), detail::without_template_tokens(text)});
    return *this;
}

inline prompt_writer& prompt_writer::share() {
    if (common_) detail::raise<usage_error>("prompt.shared", "quarry::prompt_writer::share: called a second time");
    mark_ = own_mark();
    common_ = std::make_shared<const prompt::common>(prompt::common{version_, system_, written(mark_, false)});
    pieces_.clear();
    return *this;
}

inline prompt prompt_writer::finish() const {
    if (!common_) {
        const auto common = std::make_shared<const prompt::common>(prompt::common{version_, system_, {}});
        return prompt(common, written(own_mark(), false), labels_);
    }
    return prompt(common_, written(mark_.empty() ? own_mark() : mark_, !common_->shared.empty()), labels_);
}

// The mark of the pieces at hand: eight digits of their digest, or of the digest of that, until it occurs in none.
inline std::string prompt_writer::own_mark() const {
    detail::sha256 all;
    bool any = false;
    for (const piece& p : pieces_) {
        if (p.name.empty()) continue;
        any = true;
        all.add_field(p.name).add_field(p.text);
    }
    if (!any) return {};
    for (detail::digest d = all.finish();; d = detail::sha256().add_field(d).finish()) {
        const std::string mark = detail::hexadecimal(d, 4);
        bool taken = false;
        for (const piece& p : pieces_) taken = taken || p.text.find(mark) != std::string::npos;
        if (!taken) return mark;
    }
}

inline std::string prompt_writer::written(const std::string& mark, bool continued) const {
    std::string out;
    for (const piece& p : pieces_) {
        if (continued || !out.empty()) out += "\n\n";
        if (p.name.empty()) {
            out += p.text;
            continue;
        }
        out += detail::concat('<', p.name, ' ', mark, ">\n");
        // After share() the mark is given, and text that comes later could hold it: only if it was written to.
        std::size_t copied = 0;
        for (std::size_t at = p.text.find(mark); at != std::string::npos; at = p.text.find(mark, at + 1)) {
            out.append(p.text, copied, at + 1 - copied);
            out += ' ';
            copied = at + 1;
        }
        out.append(p.text, copied);
        out += detail::concat("\n</", p.name, ' ', mark, '>');
    }
    return out;
}

}  // namespace QUARRY_NAMESPACE
