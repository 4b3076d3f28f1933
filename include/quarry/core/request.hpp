// A request: one query on its way through a pipeline. Everything that travels, travels here.
//
// The query, the evaluated selection, the budget, the stop token, the trace, the ledger, and the memo of what was paid
// for. Stages may be asked again for more; a callable is not: its answer is in the memo.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/text.hpp"
#include "error.hpp"
#include "key_index.hpp"
#include "ledger.hpp"
#include "query.hpp"
#include "source.hpp"
#include "trace.hpp"
#include "unit_set.hpp"

namespace QUARRY_NAMESPACE {

/// Who paid: an identity that a callable keeps when it is copied.
using callable_identity = const void*;

/// What callables answered during one request, or one batch of requests.
class memo {
   public:
    memo() = default;
    /// One that finds what another knows and keeps what is new to itself.
    explicit memo(std::shared_ptr<const memo> known) : known_(std::move(known)) {}

    /// The numbers remembered for (who, what), or null.
    const std::vector<float>* find(callable_identity who, std::string_view what) const {
        const answer* found = find({who, false, what});
        return found ? &found->numbers : nullptr;
    }
    const std::vector<float>& keep(callable_identity who, std::string what, std::vector<float> numbers) {
        return keep({who, false, std::move(what)}, {std::move(numbers), {}}).numbers;
    }

    /// The same for texts, such as a generator's reply. Texts and numbers do not meet.
    const std::string* find_text(callable_identity who, std::string_view what) const {
        const answer* found = find({who, true, what});
        return found ? &found->text : nullptr;
    }
    const std::string& keep_text(callable_identity who, std::string what, std::string text) {
        return keep({who, true, std::move(what)}, {{}, std::move(text)}).text;
    }

    /// Takes over what another kept; what was here before stays.
    void absorb(memo& other) { answers_.merge(other.answers_); }

   private:
    struct answer {
        std::vector<float> numbers;
        std::string text;
    };
    template <class Text>
    struct basic_name {
        callable_identity who;
        bool is_text;  // what was answered
        Text what;
    };
    using name = basic_name<std::string>;
    using name_view = basic_name<std::string_view>;

    struct by_name {
        using is_transparent = void;
        template <class A, class B>
        bool operator()(const basic_name<A>& a, const basic_name<B>& b) const noexcept {
            if (a.who != b.who) return std::less<>{}(a.who, b.who);
            return a.is_text != b.is_text ? a.is_text < b.is_text : std::string_view(a.what) < std::string_view(b.what);
        }
    };

    const answer* find(const name_view& n) const {
        for (const memo* m = this; m; m = m->known_.get())
            if (const auto found = m->answers_.find(n); found != m->answers_.end()) return &found->second;
        return nullptr;
    }
    const answer& keep(name n, answer a) { return answers_.insert_or_assign(std::move(n), std::move(a)).first->second; }

    std::map<name, answer, by_name> answers_;
    std::shared_ptr<const memo> known_;
};

/// Single-threaded and not copyable; made by `retriever_interface::retrieve`. Stages that search for other words or
/// under a narrower filter make a child of it, see `narrowed`.
///
/// Errors  `cancelled` (`query.stopped`, `budget.model_calls`, `budget.model_tokens`, `budget.rerank_pairs`; for what
///         is optional also `budget.deadline`), usage_error `query.prepared`, `scope.example`, and what the source's
///         `select` throws.
class request {
    // What a request and its children have in common besides the memo.
    struct account {
        ledger notes;
        cost paid{}, kept{};
        std::size_t optional = 0;  // depth of optional stages
        std::vector<std::pair<const void*, std::string>> left_out;
        trace* told = nullptr;
        trace own_told;      // of a branch
        cost told_cost{};    // of what was paid
        std::chrono::steady_clock::time_point since{};
    };

   public:
    /// The query and the source must outlive the request.
    request(const query& q, source_ref source, std::shared_ptr<memo> shared = std::make_shared<memo>())
        : query_(&q), source_(source), memo_(std::move(shared)) {
        spent_->told = q.tracer();
        start_clock();
        if (q.prepared()) {
            require_fitting(q);
            selection_ = *q.prepared();
        } else {
            selection_ = source.select({q.filtered() ? &*q.filtered() : nullptr, q.scoped() ? &*q.scoped() : nullptr,
                                        q.includes_generated(), q.example()});
        }
        if (q.example() && q.scoped()) require_in_scope(*q.example(), *q.scoped());
        if (const unit_set* units = selection_.returned().units)
            tell({trace_code::filtered, "query", source.size(), units->count()});
        text_ = q.example() ? source.text(*q.example()) : q.text();
    }

    request(request&&) noexcept = default;

    /// A child that searches for `words` (none: the same) among the units for which `also` holds too (null: the same).
    ///
    /// It shares budget, memo, ledger, trace and stop token: what it pays and notes is paid and noted here. Whatever
    /// `also` says, it admits no unit that this request does not: filter and scope stay, and are ANDed.
    /// Errors  usage_error for a filter that does not fit the schema, `filter.depth` if the two are too deep together,
    ///         `request.example` for words where a unit is searched by.
    request narrowed(const filter* also, std::optional<std::string> words = {}) const;

    /// Passages that might answer the question. A leg that searches by meaning searches by the mean of the question's
    /// row and theirs; a leg that searches by words does not read them. Children of other words have none.
    std::span<const std::string> imagined() const noexcept {
        return imagined_ ? std::span<const std::string>(*imagined_) : std::span<const std::string>();
    }
    /// For a child that was just made.
    void imagine(std::vector<std::string> passages) {
        if (!passages.empty()) imagined_ = std::make_shared<const std::vector<std::string>>(std::move(passages));
    }

    /// A child that finds `units` and no others, of the same words; null: any.
    ///
    /// For what is searched on the way to what is returned: summaries that lead to their sources, articles that lead to
    /// their chunks. Units may be among them that this request does not admit, so whoever makes such a child returns
    /// only what this request admits.
    request among(std::shared_ptr<const unit_set> units) const;

    /// Where work may run side by side, or null. Where calls, tokens or passages are limited it does not, since who
    /// comes first would decide who is paid.
    const executor* side_by_side() const noexcept {
        const budget& b = query_->allowance();
        const bool limited = b.model_calls != SIZE_MAX || b.model_tokens != SIZE_MAX || b.rerank_pairs != SIZE_MAX;
        return query_->runs_on() && !limited ? &query_->runs_on() : nullptr;
    }
    /// A child of the same words and units with an account, trace and memo of its own, so that it may run beside
    /// others while this request rests. It finds what was remembered before.
    request branch() const;
    /// Takes over what a branch paid, noted, told and remembers. Its ledger begins at the place returned. Branches that
    /// are joined in the order in which they would have run leave what they would have left.
    std::uint32_t join(request& branch);

    const query& asked() const noexcept { return *query_; }
    std::string_view text() const noexcept { return text_; }

    /// Under which name a vector of the question is remembered. In one batch the same text may be a question and an
    /// example, which are embedded differently.
    std::string name() const {
        if (query_->example()) return detail::concat("like ", index_of(*query_->example()));
        if (!imagined_) return plain_name();
        std::string out = "mean";
        for (const std::string& passage : *imagined_) out += detail::concat(' ', passage.size(), ' ', passage);
        return detail::concat(out, ' ', plain_name());
    }
    /// The same without what is imagined.
    std::string plain_name() const {
        if (query_->example()) return name();
        std::string out = detail::concat("ask ", text_);
        if (has_own_words())
            for (const auto& [who, row] : query_->rows())
                out.append(1, '\0').append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
        return out;
    }

    /// The row that the query brought along for this embedder, if it did and is searched for by its own words.
    const std::vector<float>* given_row(callable_identity who) const noexcept {
        const std::vector<float>* found = nullptr;
        if (has_own_words())
            for (const auto& [whose, row] : query_->rows())
                if (whose == who) found = &row;
        return found;
    }
    /// Nothing to be read: the query has rows for some embedders, and no words for the others.
    bool is_wordless() const noexcept { return !query_->rows().empty() && detail::trimmed(text_).empty(); }

    source_ref source() const noexcept { return source_; }

    /// A stage searched by the words of `child` in place of this request's: its rows are the question's from here on.
    void searched_as(const request& child) { searched_as_ = child.name(); }
    /// The row by which a leg searched `index` for this request, or null if none did.
    const std::vector<float>* row_in(callable_identity index) const {
        const std::vector<float>* row = memo_->find(index, name());
        return row || searched_as_.empty() ? row : memo_->find(index, searched_as_);
    }

    /// What a search may return.
    accept allowed() const noexcept { return selection_.returned(); }
    const selection& selected() const noexcept { return selection_; }
    /// May this unit be returned, though no index found it? No, where the filter was left to an engine to judge.
    bool admits(unit_id unit) const noexcept {
        const accept a = allowed();
        return (a.units || !a.expression) && a.contains(unit);
    }

    /// So many units may be returned at most.
    std::size_t possible() const noexcept { return allowed().units ? allowed().units->count() : source_.size(); }

    lexical_probe words() const noexcept {
        return {text_, query_->required(), query_->forbidden(), query_->phrases()};
    }

    /// Adds the time and the cost since the event before.
    void tell(trace_event event) const {
        if (!spent_->told) return;
        const auto before = spent_->since;
        start_clock();
        event.took = spent_->since - before;
        event.spent = spent_->paid;
        event.spent -= spent_->told_cost;
        spent_->told_cost = spent_->paid;
        spent_->told->events.push_back(event);
    }
    /// From here on counts the time of what is told next. The clock is only read where there is a trace.
    void start_clock() const {
        if (spent_->told) spent_->since = now();
    }
    bool is_traced() const noexcept { return spent_->told; }
    /// `text` is only copied where there is a trace.
    void remark(std::string_view stage, std::string_view text) const {
        if (spent_->told) spent_->told->remarks.push_back({stage, std::string(text)});
    }
    std::uint32_t note(const ledger_entry& entry) { return spent_->notes.note(entry); }
    void expect_notes(std::size_t entries) { spent_->notes.expect(entries); }
    const ledger& notes() const noexcept { return spent_->notes; }
    std::shared_ptr<const ledger> share_notes() const noexcept { return {spent_, &spent_->notes}; }
    memo& remembered() const noexcept { return *memo_; }

    /// Has the deadline passed? Then no optional stage begins.
    bool late() const {
        const auto& deadline = query_->allowance().deadline;
        return deadline && now() > *deadline;
    }

    /// Throws if the query was stopped, and for an optional stage also if it is late. Called between stages and before
    /// every callable.
    void check() const {
        if (query_->stop_token().stop_requested())
            detail::raise<cancelled>("query.stopped", "quarry: the query was stopped");
        if (spent_->optional != 0 && late())
            detail::raise<cancelled>("budget.deadline", "quarry: the query's deadline has passed");
    }

    /// To be called before a callable is: counts what it is asked for against the budget, all of it or nothing.
    void pay(const cost& price);
    void pay_for_a_call() { pay({.calls = 1}); }
    const cost& paid() const noexcept { return spent_->paid; }
    std::size_t paid_calls() const noexcept { return spent_->paid.calls; }

    /// Must what is not optional be paid ahead of what is?
    bool counts_calls() const noexcept { return query_->allowance().model_calls != SIZE_MAX; }
    /// What a prompt takes of the budget; 0 where that is not limited.
    std::size_t tokens_of(std::string_view prompt) const {
        const budget& b = query_->allowance();
        if (b.model_tokens == SIZE_MAX) return 0;
        return b.count ? b.count(prompt) : (prompt.size() + 2) / 3;
    }

    /// Stages that were left out for this text, by an identity that each has.
    void leave_out(const void* stage) { spent_->left_out.emplace_back(stage, std::string(text_)); }
    bool left_out(const void* stage) const {
        return std::ranges::any_of(spent_->left_out,
                                   [&](const auto& s) { return s.first == stage && s.second == text_; });
    }

    /// While it lives, whatever this request and its children do is optional.
    class optional_work {
       public:
        explicit optional_work(request& r) : spent_(r.spent_) { ++spent_->optional; }
        ~optional_work() { --spent_->optional; }
        optional_work(const optional_work&) = delete;
        optional_work& operator=(const optional_work&) = delete;

       private:
        std::shared_ptr<account> spent_;
    };

    /// While it lives, optional stages leave this much of the budget to what is not.
    class reserve {
       public:
        reserve(request& r, const cost& kept) : spent_(r.spent_), before_(spent_->kept) {
            spent_->kept.calls += kept.calls;
            spent_->kept.pairs += kept.pairs;
        }
        ~reserve() { spent_->kept = before_; }
        reserve(const reserve&) = delete;
        reserve& operator=(const reserve&) = delete;

       private:
        std::shared_ptr<account> spent_;
        cost before_;
    };

    /// A request and its children do; two queries of a batch do not.
    bool shares_budget_with(const request& other) const noexcept { return spent_ == other.spent_; }

   private:
    bool has_own_words() const noexcept { return !query_->example() && text_ == query_->text(); }

    request(const request&) = default;  // for children

    std::chrono::steady_clock::time_point now() const {
        const auto& clock = query_->allowance().now;
        return clock ? clock() : std::chrono::steady_clock::now();
    }

    // Throws where `n` more are beyond `most`, or beyond what an optional stage may take of it.
    void require_left(std::string_view code, std::string_view what, std::size_t n, std::size_t paid, std::size_t kept,
                      std::size_t most) const {
        if (spent_->optional == 0) kept = 0;
        const std::size_t left = most - paid;  // never more is paid than allowed
        if (n <= left && kept <= left - n) return;
        detail::raise<cancelled>(
            code, detail::concat("quarry: the query may take ", most, ' ', what, ", this would be ", paid + n,
                                 kept == 0 ? "" : detail::concat(" beside ", kept, " kept for what is not optional")));
    }

    void require_fitting(const query& q) const {
        if (q.filtered() || q.scoped() || q.example() || q.includes_generated())
            detail::raise<usage_error>("query.prepared", "quarry::query: a prepared selection holds filter and scope "
                                                         "already; it does not combine with others");
        if (q.prepared()->state() != source_.state())
            detail::raise<usage_error>("query.prepared",
                                       "quarry::query: the prepared selection was not made by this source, or the "
                                       "source has changed since; select again");
    }

    // Its text would be searched by, shown to rerankers and quoted in messages.
    void require_in_scope(unit_id example, const scope& s) const {
        const selection visible = source_.select({nullptr, &s, true, std::nullopt});
        if (!visible.returned().contains(example))
            detail::raise<usage_error>("scope.example", detail::concat("quarry::like: unit ", index_of(example),
                                                                       " lies outside the scope of the query"));
    }

    const query* query_;
    source_ref source_;
    std::shared_ptr<memo> memo_;
    std::shared_ptr<account> spent_ = std::make_shared<account>();
    std::optional<filter> narrowing_{};  // what children added to the query's filter
    std::shared_ptr<const unit_set> among_{};
    selection selection_;
    std::shared_ptr<const std::string> own_text_{};  // of a child with other words
    std::shared_ptr<const std::vector<std::string>> imagined_{};
    std::string searched_as_{};  // the name of a child
    std::string_view text_;
};

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

/// The units that both let through. For a selection that somebody else evaluated and whose filter is not at hand.
inline selection both(const selection& a, const selection& b) {
    std::optional<filter> expression;
    if (a.expression()) expression = *a.expression();
    if (b.expression()) expression = expression ? filter::restricted(*expression, *b.expression()) : *b.expression();
    const auto common = [](const unit_set* x, const unit_set* y) -> std::shared_ptr<const unit_set> {
        if (!x && !y) return nullptr;
        if (!x || !y) return std::make_shared<unit_set>(x ? *x : *y);
        auto set = std::make_shared<unit_set>(*x);
        *set &= *y;
        return set;
    };
    return selection(std::move(expression), common(a.returned().units, b.returned().units),
                     common(a.walked().units, b.walked().units))
        .made_by(a.state());
}

}  // namespace detail

inline void request::pay(const cost& price) {
    check();
    const budget& most = query_->allowance();
    const cost &paid = spent_->paid, &kept = spent_->kept;
    if (most.model_calls != SIZE_MAX)
        require_left("budget.model_calls", "model calls", price.calls, paid.calls, kept.calls, most.model_calls);
    if (most.model_tokens != SIZE_MAX)
        require_left("budget.model_tokens", "tokens of prompts", price.tokens, paid.tokens, 0, most.model_tokens);
    if (most.rerank_pairs != SIZE_MAX)
        require_left("budget.rerank_pairs", "passages for judges", price.pairs, paid.pairs, kept.pairs,
                     most.rerank_pairs);
    spent_->paid += price;
}

inline request request::branch() const {
    request child(*this);
    child.memo_ = std::make_shared<memo>(memo_);
    child.spent_ = std::make_shared<account>();
    child.spent_->optional = spent_->optional;
    child.spent_->left_out = spent_->left_out;
    if (is_traced()) child.spent_->told = &child.spent_->own_told;
    return child;
}

inline std::uint32_t request::join(request& branch) {
    account& mine = *spent_;
    const account& its = *branch.spent_;
    memo_->absorb(*branch.memo_);
    if (searched_as_.empty()) searched_as_ = branch.searched_as_;
    mine.paid += its.paid;
    mine.told_cost += its.told_cost;
    if (mine.told) mine.told->append(its.own_told);
    start_clock();
    for (const auto& stage : its.left_out)
        if (std::ranges::find(mine.left_out, stage) == mine.left_out.end()) mine.left_out.push_back(stage);
    return mine.notes.append(its.notes);
}

inline request request::among(std::shared_ptr<const unit_set> units) const {
    request child(*this);
    child.among_ = units;
    child.selection_ = selection(std::nullopt, std::move(units), nullptr).made_by(selection_.state());
    return child;
}

inline request request::narrowed(const filter* also, std::optional<std::string> words) const {
    request child(*this);
    if (words) {
        if (query_->example())
            detail::raise<usage_error>("request.example", "quarry::request: a unit is searched by, and not by words");
        if (*words != text_) child.imagined_ = nullptr;
        child.own_text_ = std::make_shared<const std::string>(std::move(*words));
        child.text_ = *child.own_text_;
    }
    if (!also) return child;
    child.narrowing_ = narrowing_ ? *narrowing_ && *also : *also;
    if (query_->prepared()) {
        // What was prepared holds the scope; leaving it out here cannot widen what both let through.
        const scope everything = scope::everything();
        child.selection_ = detail::both(selection_, source_.select({also, &everything, true, std::nullopt}));
    } else {
        const filter where = query_->filtered() ? *query_->filtered() && *child.narrowing_ : *child.narrowing_;
        child.selection_ = source_.select(
            {&where, query_->scoped() ? &*query_->scoped() : nullptr, query_->includes_generated(), query_->example()});
    }
    if (among_) child.selection_ = detail::both(child.selection_, selection(std::nullopt, among_, nullptr));
    if (const unit_set* units = child.allowed().units)
        tell({trace_code::filtered, "narrowed", allowed().units ? allowed().units->count() : source_.size(),
              units->count()});
    return child;
}

}  // namespace QUARRY_NAMESPACE
