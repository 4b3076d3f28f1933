// A toy of a search engine elsewhere, and the adaptors that make it a source and an index of ours.
//
// It holds texts, vectors and fields of its own behind string ids, understands a filter language of its own, and answers
// in distances: smaller is better there, and nowhere else. A real distributed engine takes its place with the same three
// adaptors; what they must do is all here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/core/error.hpp"
#include "quarry/core/filter.hpp"
#include "quarry/core/key_index.hpp"
#include "quarry/core/source.hpp"
#include "quarry/core/unit_set.hpp"
#include "quarry/detail/text.hpp"

namespace toy {

struct engine_document {
    std::string id;
    std::string title{};
    std::string text{};
    std::vector<float> vector{};
    std::map<std::string, quarry::field_value, std::less<>> fields{};
    std::string parent{};  // the id of the document it is a part of
};

struct engine_answer {
    std::string id;
    double distance;
};

/// The engine. A condition is a text in prefix form:
///
///     (= product "app")  (< year 2024)  (has product)  (id "a" "b")  (and ...)  (or ...)  (not ...)
///
/// A comparison with a field that a document lacks is false, so `not` of it is true: its logic has two values and ours has
/// three. It refuses what it does not understand.
class engine {
   public:
    void put(engine_document d) {
        std::string id = d.id;
        documents_.insert_or_assign(std::move(id), std::move(d));
    }

    /// By squared Euclidean distance of unit vectors: 0 is the same direction, 4 the opposite. Ties by id.
    std::vector<engine_answer> nearest(std::span<const float> vector, std::size_t n, std::string_view condition) const {
        return best(n, condition, [&](const engine_document& d) -> std::optional<double> {
            if (d.vector.empty()) return std::nullopt;
            return 2.0 - 2.0 * product(vector, d.vector) / std::sqrt(product(vector, vector) * product(d.vector, d.vector));
        });
    }

    /// By 1 / (1 + how often the words of the question stand in the text); documents with none are left out.
    std::vector<engine_answer> matching(std::string_view question, std::size_t n, std::string_view condition) const {
        return best(n, condition, [&](const engine_document& d) -> std::optional<double> {
            double times = 0;
            for (const std::string_view word : words(question))
                for (const std::string_view other : words(d.text)) times += word == other;
            if (times == 0) return std::nullopt;
            return 1.0 / (1.0 + times);
        });
    }

    const engine_document* find(std::string_view id) const {
        const auto found = documents_.find(id);
        return found == documents_.end() ? nullptr : &found->second;
    }
    std::vector<std::string> ids() const {
        std::vector<std::string> out;
        for (const auto& [id, d] : documents_) out.push_back(id);
        return out;
    }
    std::size_t size() const { return documents_.size(); }
    bool allows(const engine_document& d, std::string_view condition) const {
        std::size_t at = 0;
        return condition.empty() || holds(d, condition, at);
    }

   private:
    static double product(std::span<const float> a, std::span<const float> b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        return sum;
    }
    static std::vector<std::string_view> words(std::string_view text) {
        std::vector<std::string_view> out;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            if (end > at) out.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return out;
    }

    template <class Distance>
    std::vector<engine_answer> best(std::size_t n, std::string_view condition, Distance distance) const {
        std::vector<engine_answer> out;
        for (const auto& [id, d] : documents_)
            if (allows(d, condition))
                if (const auto far = distance(d)) out.push_back({id, *far});
        std::ranges::stable_sort(out, {}, &engine_answer::distance);
        if (out.size() > n) out.resize(n);
        return out;
    }

    // Reads one word or quoted text; a backslash takes the next character as it is.
    static std::string next(std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == ' ') ++at;
        std::string out;
        if (at < text.size() && text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '\\') ++at;
                if (at < text.size()) out += text[at];
            }
            ++at;
            return out;
        }
        if (at < text.size() && (text[at] == '(' || text[at] == ')')) return std::string(1, text[at++]);
        while (at < text.size() && text[at] != ' ' && text[at] != '(' && text[at] != ')') out += text[at++];
        return out;
    }
    static bool closes(std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == ' ') ++at;
        if (at < text.size() && text[at] != ')') return false;
        ++at;
        return true;
    }

    bool holds(const engine_document& d, std::string_view text, std::size_t& at) const {
        if (next(text, at) != "(") refuse(text);
        const std::string op = next(text, at);
        if (op == "and" || op == "or" || op == "not") {
            bool all = true, any = false;
            while (!closes(text, at)) {
                const bool one = holds(d, text, at);
                all = all && one;
                any = any || one;
            }
            return op == "and" ? all : op == "or" ? any : !all;
        }
        if (op == "id") {
            bool any = false;
            while (!closes(text, at)) any = next(text, at) == d.id || any;
            return any;
        }
        const auto field = d.fields.find(next(text, at));
        bool out = field != d.fields.end();
        if (op != "has") {
            const std::string value = next(text, at);
            if (op != "=" && op != "<" && op != ">") refuse(text);
            if (out) out = compares(field->second, op, value);
        }
        if (!closes(text, at)) refuse(text);
        return out;
    }

    // Texts are compared for equality, numbers by value.
    static bool compares(const quarry::field_value& stored, const std::string& op, const std::string& asked) {
        if (const auto* text = stored.get_if<std::string>()) return op == "=" && *text == asked;
        if (const auto* truth = stored.get_if<bool>()) return op == "=" && asked == (*truth ? "true" : "false");
        const auto* whole = stored.get_if<std::int64_t>();
        const double number = whole ? static_cast<double>(*whole) : *stored.get_if<double>();
        const double other = std::strtod(asked.c_str(), nullptr);
        return op == "=" ? number == other : op == "<" ? number < other : number > other;
    }

    [[noreturn]] static void refuse(std::string_view condition) {
        throw std::invalid_argument("engine: cannot read " + std::string(condition));
    }

    std::map<std::string, engine_document, std::less<>> documents_;
};

/// One of our filters in the engine's language.
///
/// Comparisons with missing fields are unknown here and false there, so a negation is carried down to the leaves, where
/// `has` goes with it. Errors  usage_error `engine.filter` for what the engine has no word for: prefixes, lists, dates.
inline std::string translated(const quarry::filter& f, bool negated = false) {
    using quarry::filter_op;
    const auto quoted = [](std::string_view text) {
        std::string out = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
        return out + '"';
    };
    const auto refuse = [&] {
        quarry::detail::raise<quarry::usage_error>("engine.filter", "toy::engine: it has no word for " + f.to_string());
    };
    const auto value = [&](const quarry::field_value& v) {
        if (const auto* text = v.get_if<std::string>()) return quoted(*text);
        if (v.type() == quarry::field_type::date_time || v.type() == quarry::field_type::string_list) refuse();
        return v.to_string();
    };
    const std::string field = quoted(f.field());
    // A leaf that holds, or, negated, one whose field is there and that does not.
    const auto leaf = [&](const std::string& positive) {
        return negated ? "(and (has " + field + ") (not " + positive + "))" : positive;
    };
    const auto compared = [&](const char* op, const quarry::field_value& v) {
        return "(" + std::string(op) + " " + field + " " + value(v) + ")";
    };
    const auto one_of = [&] {
        std::string out = "(or";
        for (const quarry::field_value& v : f.values()) out += " " + compared("=", v);
        return out + ")";
    };
    switch (f.op()) {
        case filter_op::eq: return leaf(compared("=", f.values()[0]));
        case filter_op::ne: return negated ? compared("=", f.values()[0])
                                           : "(and (has " + field + ") (not " + compared("=", f.values()[0]) + "))";
        case filter_op::lt: return leaf(compared("<", f.values()[0]));
        case filter_op::gt: return leaf(compared(">", f.values()[0]));
        case filter_op::le: return leaf("(or " + compared("<", f.values()[0]) + " " + compared("=", f.values()[0]) + ")");
        case filter_op::ge: return leaf("(or " + compared(">", f.values()[0]) + " " + compared("=", f.values()[0]) + ")");
        case filter_op::in:
        case filter_op::nin: {
            // An empty list decides whatever is stored, even nothing.
            const bool out = (f.op() == filter_op::nin) != negated;
            if (f.values().empty()) return out ? "(and)" : "(or)";
            return out ? "(and (has " + field + ") (not " + one_of() + "))" : one_of();
        }
        case filter_op::exists: return negated ? "(not (has " + field + "))" : "(has " + field + ")";
        case filter_op::none_of: return translated(f.children().front(), !negated);
        case filter_op::all_of:
        case filter_op::any_of: {
            std::string out = (f.op() == filter_op::all_of) != negated ? "(and" : "(or";
            for (const quarry::filter& child : f.children()) out += " " + translated(child, negated);
            return out + ")";
        }
        default: refuse();
    }
    return {};
}

/// Scores of the engine's word search: how often the words of the question stand in a text.
struct engine_scale {
    static constexpr std::string_view name = "engine words";
    static constexpr float lowest = 0.0f, highest = std::numeric_limits<float>::infinity();
};

/// What both indexes share: from accept to condition, from ids to units, from distances to scores, in our order.
class engine_index {
   public:
    engine_index(const engine& e, quarry::source_ref source) : engine_(&e), source_(source) {}

    std::size_t size() const { return engine_->size(); }
    std::size_t most_keys_of_a_unit() const { return engine_->size() == 0 ? 0 : 1; }

   protected:
    // The n best of what `ask(count, condition)` answers. More is asked for while answers may be left out (unknown here,
    // or not accepted) or tie with the last one: the engine breaks ties by its ids, and we by ours.
    template <class Ask, class Score>
    std::vector<quarry::scored_key> best(std::size_t n, const quarry::accept& allowed, Ask ask, Score score) const {
        std::vector<quarry::scored_key> out;
        if (n == 0) return out;
        const std::string condition = condition_of(allowed);
        for (std::size_t count = n < SIZE_MAX / 2 ? n + 1 : n;; count *= 2) {
            const std::vector<engine_answer> answers = ask(count, condition);
            out.clear();
            for (const engine_answer& a : answers)
                if (const auto unit = source_.find(a.id); unit && allowed.contains(*unit))
                    out.push_back({*unit, quarry::key_at(quarry::index_of(*unit)), score(a.distance)});
            std::ranges::sort(out, [](const auto& a, const auto& b) { return quarry::better(a, b); });
            const bool settled = out.size() > n && out[n - 1].score > out.back().score;
            if (settled || answers.size() < count) break;
        }
        if (out.size() > n) out.resize(n);
        return out;
    }

    const engine_document* document(quarry::unit_id unit) const {
        return quarry::index_of(unit) < source_.size() ? engine_->find(source_.id(unit)) : nullptr;
    }

    const engine* engine_;
    quarry::source_ref source_;

   private:
    // The expression if there is one that the engine understands. Where it does not, the units' ids will do, if somebody
    // evaluated it; if nobody did, it is refused and not forgotten.
    std::string condition_of(const quarry::accept& allowed) const {
        if (allowed.expression) {
            try {
                return translated(*allowed.expression);
            } catch (const quarry::usage_error&) {
                if (!allowed.units) throw;
            }
        }
        if (!allowed.units) return {};
        std::string out = "(id";
        allowed.units->for_each([&](quarry::unit_id unit) {
            out += " \"";
            for (const char c : source_.id(unit)) {
                if (c == '"' || c == '\\') out += '\\';
                out += c;
            }
            out += '"';
        });
        return out + ")";
    }
};

class engine_words : public engine_index {
   public:
    using scale = engine_scale;
    using engine_index::engine_index;

    std::vector<quarry::scored_key> search(const quarry::lexical_probe& probe, std::size_t n,
                                           const quarry::accept& allowed) const {
        return best(
            n, allowed,
            [&](std::size_t count, const std::string& c) { return engine_->matching(probe.text, count, c); },
            [](double distance) { return static_cast<float>(1.0 / distance - 1.0); });
    }
};

class engine_vectors : public engine_index {
   public:
    using scale = quarry::cosine_scale;

    engine_vectors(const engine& e, quarry::source_ref source, std::size_t dimension)
        : engine_index(e, source), dimension_(dimension) {}

    std::size_t dimension() const { return dimension_; }
    std::vector<quarry::scored_key> search(const quarry::dense_probe& probe, std::size_t n,
                                           const quarry::accept& allowed) const {
        return best(
            n, allowed, [&](std::size_t count, const std::string& c) { return engine_->nearest(probe, count, c); },
            [](double distance) { return static_cast<float>(std::clamp(1.0 - distance / 2.0, -1.0, 1.0)); });
    }
    bool vector_of(quarry::unit_id unit, std::span<float> row) const {
        const engine_document* d = document(unit);
        if (!d || d->vector.empty()) return false;
        std::ranges::copy(d->vector, row.begin());
        return true;
    }

   private:
    std::size_t dimension_;
};

/// The engine's documents as units of their own: numbered in the order of their ids, texts fetched when somebody asks.
/// Filters are left to the engine: a selection holds the expression and no set, unless a unit is to be left out.
class engine_source {
   public:
    explicit engine_source(const engine& e) : engine_(&e), ids_(e.ids()) {}

    std::size_t size() const { return ids_.size(); }
    std::string_view id(quarry::unit_id unit) const { return ids_.at(quarry::index_of(unit)); }
    quarry::unit_kind kind(quarry::unit_id unit) const {
        return document(unit).parent.empty() ? quarry::unit_kind::article : quarry::unit_kind::chunk;
    }
    std::string_view title(quarry::unit_id unit) const { return document(unit).title; }
    std::string_view text(quarry::unit_id unit) const {
        ++*fetched_;
        return document(unit).text;
    }
    std::optional<quarry::unit_id> parent(quarry::unit_id unit) const {
        return document(unit).parent.empty() ? std::nullopt : find(document(unit).parent);
    }
    std::optional<quarry::field_value> value(quarry::unit_id unit, std::string_view field) const {
        for (std::optional<quarry::unit_id> up = unit; up; up = parent(*up))
            if (const auto found = document(*up).fields.find(field); found != document(*up).fields.end())
                return found->second;
        return std::nullopt;
    }
    std::optional<quarry::unit_id> find(std::string_view id) const {
        const auto at = std::ranges::lower_bound(ids_, id);
        if (at == ids_.end() || *at != id) return std::nullopt;
        return quarry::unit_at(static_cast<std::size_t>(at - ids_.begin()));
    }
    quarry::selection select(const quarry::selection_criteria& criteria) const {
        std::optional<quarry::filter> expression;
        if (criteria.where) expression = *criteria.where;
        const quarry::filter* scope = criteria.within ? criteria.within->condition() : nullptr;
        if (scope) expression = expression ? *expression && *scope : *scope;
        const std::string condition = expression ? translated(*expression) : std::string();
        if (!criteria.unlike) return {std::move(expression), nullptr, nullptr};
        const auto article = [&](quarry::unit_id unit) { return quarry::source_ref(*this).article_of(unit); };
        auto units = std::make_shared<quarry::unit_set>(size());
        for (std::size_t i = 0; i < size(); ++i)
            if (const quarry::unit_id unit = quarry::unit_at(i); article(unit) != article(*criteria.unlike))
                if (engine_->allows(document(unit), condition)) units->insert(unit);
        return {std::move(expression), units, units};
    }

    /// Texts that were asked for so far.
    std::size_t fetched() const { return *fetched_; }

   private:
    const engine_document& document(quarry::unit_id unit) const { return *engine_->find(id(unit)); }

    const engine* engine_;
    std::vector<std::string> ids_;
    std::shared_ptr<std::atomic<std::size_t>> fetched_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace toy
