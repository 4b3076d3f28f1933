// Embedders: texts in, rows of floats out. Yours, handed in.
//
// The library never trusts one: a wrong count or width, a NaN, an infinity or a zero vector is a callable_error that
// names the row and both numbers, and the index stays what it was. A const call must be safe from several threads;
// `serialized(f)` gives that to an embedder which is not.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/request.hpp"
#include "../detail/floats.hpp"
#include "../detail/text.hpp"
#include "../text/token_counter.hpp"

namespace QUARRY_NAMESPACE {

/// Many models embed what is searched and what searches differently.
enum class role : std::uint8_t { document, query };

template <class E>
concept Embedder = requires(const E& embedder, role r, std::span<const std::string_view> texts, std::span<float> rows) {
    { embedder.dimension() } -> std::same_as<std::size_t>;         // d, constant for the object's life
    { embedder.embed(r, texts, rows) } -> std::same_as<void>;      // rows: texts.size() * d floats, row-major, all written
};

// An embedder may also have
//   name()                 a text: what a saved index records and refuses to mix
//   identity()             a callable_identity that copies share, so that two legs pay for a question once
//   zero_means_unknown     static constexpr bool true: a zero row is no defect but says "nothing here that I know"
//   reads_whole(text)      bool: false for a text that is cut before it is embedded. Nothing finds what was cut off, so
//                          reports of builds count such texts and traces of questions remark them

struct embedder_options {
    std::string name = "embedder";
    std::size_t batch = 64;  // texts per call of a function that takes many; 0: all at once
    std::size_t reads = 0;   // tokens of a text that the model reads, the rest is cut off; 0: not known
    token_counter count = approximate_tokens{};
};

/// An embedder from a lambda: over one text or over many, with or without the role in front.
///
///     make_embedder(384, [](std::string_view text) -> std::vector<float> { ... });
///     make_embedder(384, [](role r, std::span<const std::string_view> texts) -> std::vector<std::vector<float>> { ... });
///
/// Many texts may come back as one row each or as n * d floats in one range.
/// Errors  usage_error `embedder.dimension` for a dimension of 0, where it is made; callable_error `embedder.count`,
///         `embedder.dimension`, naming the row, where it is called.
template <class F>
class function_embedder;

template <class F>
function_embedder<F> make_embedder(std::size_t dimension, F f, embedder_options options = {}) {
    return function_embedder<F>(dimension, std::move(f), std::move(options));
}

namespace detail {

/// Identity that copies share and that no living object has again. Copies only: one that was moved from keeps its own,
/// and is not mistaken for another that was.
class identity_token {
   public:
    identity_token() = default;
    identity_token(const identity_token&) = default;
    identity_token& operator=(const identity_token&) = default;

    callable_identity get() const noexcept { return token_.get(); }

   private:
    std::shared_ptr<const char> token_ = std::make_shared<const char>('\0');
};

template <class E>
constexpr bool zero_means_unknown = [] {
    if constexpr (requires { { E::zero_means_unknown } -> std::convertible_to<bool>; }) return E::zero_means_unknown;
    else return false;
}();

template <class E>
std::string embedder_name(const E& embedder) {
    if constexpr (requires { { embedder.name() } -> std::convertible_to<std::string>; }) return embedder.name();
    else return "embedder";
}

/// Does the embedder read all of it? Yes, where it does not say.
template <class E>
bool reads_whole(const E& embedder, std::string_view text) {
    if constexpr (requires { { embedder.reads_whole(text) } -> std::convertible_to<bool>; })
        return embedder.reads_whole(text);
    else
        return true;
}

/// Remarks how many of `texts` the embedder cuts before it embeds them, if any.
template <class E>
void remark_cut(const request& q, std::string_view stage, const E& embedder, std::span<const std::string_view> texts) {
    if (!q.asked().tracer()) return;
    const auto cut = std::ranges::count_if(texts, [&](std::string_view t) { return !reads_whole(embedder, t); });
    if (cut != 0)
        q.remark(stage, concat(cut, " of ", texts.size(), " texts are longer than ", embedder_name(embedder), " reads"));
}

/// Rows of `texts`, checked: of the width that whoever asks has known so far, finite, and not zero unless zero has a
/// meaning here.
///
/// Errors  callable_error `embedder.dimension`, `embedder.not_finite`, `embedder.zero_vector`, the last two naming row
///         and text; whatever the embedder throws.
template <Embedder E>
std::vector<float> embed_checked(const E& embedder, role r, std::span<const std::string_view> texts, std::size_t width);
template <Embedder E>
std::vector<float> embed_checked(const E& embedder, role r, std::span<const std::string_view> texts) {
    return embed_checked(embedder, r, texts, embedder.dimension());
}

}  // namespace detail

/// Shares a large callable without copying it; a temporary does not compile. It must outlive every user.
template <class T>
class reference {
   public:
    explicit reference(const T& target) noexcept : target_(&target) {}

    std::size_t dimension() const requires Embedder<T> { return target_->dimension(); }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const requires Embedder<T> {
        target_->embed(r, texts, rows);
    }
    std::string name() const requires Embedder<T> { return detail::embedder_name(*target_); }
    callable_identity identity() const noexcept {
        if constexpr (requires { { target_->identity() } -> std::convertible_to<callable_identity>; })
            return target_->identity();
        else
            return target_;
    }
    bool reads_whole(std::string_view text) const requires Embedder<T> { return detail::reads_whole(*target_, text); }
    static constexpr bool zero_means_unknown = detail::zero_means_unknown<T>;

    template <class... Arguments>
        requires std::invocable<const T&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const {
        return (*target_)(std::forward<Arguments>(arguments)...);
    }

   private:
    const T* target_;
};

template <class T>
reference<T> ref(const T& target) noexcept {
    return reference<T>(target);
}
template <class T>
void ref(const T&&) = delete;  // a temporary would dangle: give it a name first

/// One call at a time, for an embedder, generator or any callable that is not safe from several threads. Copies share
/// the lock. The callable must not call back into itself.
template <class T>
class serialized_callable {
   public:
    explicit serialized_callable(T target) : state_(std::make_shared<state>(std::move(target))) {}

    std::size_t dimension() const requires Embedder<T> { return state_->target.dimension(); }
    void embed(role r, std::span<const std::string_view> texts, std::span<float> rows) const requires Embedder<T> {
        const std::lock_guard lock(state_->mutex);
        state_->target.embed(r, texts, rows);
    }
    std::string name() const requires Embedder<T> { return detail::embedder_name(state_->target); }
    callable_identity identity() const noexcept { return state_.get(); }
    bool reads_whole(std::string_view text) const requires Embedder<T> {
        const std::lock_guard lock(state_->mutex);
        return detail::reads_whole(state_->target, text);
    }
    static constexpr bool zero_means_unknown = detail::zero_means_unknown<T>;

    template <class... Arguments>
        requires std::invocable<T&, Arguments...>
    auto operator()(Arguments&&... arguments) const {
        const std::lock_guard lock(state_->mutex);
        return state_->target(std::forward<Arguments>(arguments)...);
    }

   private:
    struct state {
        explicit state(T t) : target(std::move(t)) {}
        std::mutex mutex;
        T target;
    };

    std::shared_ptr<state> state_;
};

template <class T>
serialized_callable<T> serialized(T target) {
    return serialized_callable<T>(std::move(target));
}

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// A letter converts to a number as well, but a text is no row.
template <class T>
concept letter = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                 std::same_as<T, char16_t> || std::same_as<T, char32_t>;
template <class R>
concept float_range = std::ranges::input_range<R> && std::convertible_to<std::ranges::range_value_t<R>, float> &&
                      !letter<std::ranges::range_value_t<R>>;
template <class R>
concept row_range = std::ranges::input_range<R> && float_range<std::ranges::range_value_t<R>>;

inline void require_dimension(std::size_t got, std::size_t wanted, std::size_t row) {
    if (got != wanted)
        raise<callable_error>("embedder.dimension", concat("quarry::make_embedder: row ", row, " should have ", wanted,
                                                           " floats, it has ", got));
}

inline void require_count(std::size_t got, std::size_t wanted) {
    if (got != wanted)
        raise<callable_error>("embedder.count", concat("quarry::make_embedder: expected ", wanted, " rows for ", wanted,
                                                       " texts, got ", got));
}

// Copies one row and counts it, so that a range without size() serves too.
template <class R>
void copy_row(R&& row, std::span<float> out, std::size_t number) {
    static_assert(float_range<R>, "an embedding function over one text returns a row of floats");
    std::size_t written = 0;
    for (auto&& x : row) {
        if (written < out.size()) out[written] = static_cast<float>(x);
        ++written;
    }
    require_dimension(written, out.size(), number);
}

// `first` is the number of the first row among all texts, for messages.
template <class R>
void copy_rows(R&& rows, std::span<float> out, std::size_t first, std::size_t d) {
    const std::size_t n = out.size() / d;
    if constexpr (row_range<R>) {
        std::size_t row = 0;
        for (auto&& r : rows) {
            if (row < n) copy_row(r, out.subspan(row * d, d), first + row);
            ++row;
        }
        require_count(row, n);
    } else {
        static_assert(float_range<R>, "an embedding function returns a row of floats, rows of floats, or n * d floats");
        std::size_t written = 0;
        for (auto&& x : rows) {
            if (written < out.size()) out[written] = static_cast<float>(x);
            ++written;
        }
        // A multiple of the texts is a model of another width, which is likelier than a whole number of rows too many.
        if (written != 0 && written % n == 0) require_dimension(written / n, d, first);
        if (written % d != 0) require_dimension(written % d, d, first + written / d);
        require_count(written / d, n);
    }
}

}  // namespace detail

template <class F>
class function_embedder {
    using texts_span = std::span<const std::string_view>;
    static constexpr bool takes_many = std::invocable<const F&, texts_span> || std::invocable<const F&, role, texts_span>;
    static constexpr bool takes_one =
        std::invocable<const F&, std::string_view> || std::invocable<const F&, role, std::string_view>;
    static_assert(takes_many || takes_one,
                  "make_embedder: the function must be callable, as const, with a string_view or a "
                  "span<const string_view>, optionally after a role");

   public:
    function_embedder(std::size_t dimension, F f, embedder_options options)
        : dimension_(dimension), f_(std::move(f)), options_(std::move(options)) {
        if (dimension == 0)
            detail::raise<usage_error>("embedder.dimension", "quarry::make_embedder: the dimension is 0");
    }

    std::size_t dimension() const noexcept { return dimension_; }
    std::string name() const { return options_.name; }
    callable_identity identity() const noexcept { return token_.get(); }
    bool reads_whole(std::string_view text) const {
        return options_.reads == 0 || options_.count(text) <= options_.reads;
    }

    void embed(role r, texts_span texts, std::span<float> rows) const {
        if constexpr (takes_many) {
            const std::size_t step = options_.batch == 0 ? (std::max)(texts.size(), std::size_t{1}) : options_.batch;
            for (std::size_t first = 0; first < texts.size(); first += step) {
                const texts_span some = texts.subspan(first, (std::min)(step, texts.size() - first));
                detail::copy_rows(call(r, some), rows.subspan(first * dimension_, some.size() * dimension_), first,
                                  dimension_);
            }
        } else {
            for (std::size_t i = 0; i < texts.size(); ++i)
                detail::copy_row(call(r, texts[i]), rows.subspan(i * dimension_, dimension_), i);
        }
    }

   private:
    template <class Input>
    decltype(auto) call(role r, Input input) const {
        if constexpr (std::invocable<const F&, role, Input>) return f_(r, input);
        else return f_(input);
    }

    std::size_t dimension_;
    F f_;
    embedder_options options_;
    detail::identity_token token_;
};

template <Embedder E>
std::vector<float> detail::embed_checked(const E& embedder, role r, std::span<const std::string_view> texts,
                                         std::size_t width) {
    const std::size_t d = embedder.dimension();
    if (d != width)
        raise<callable_error>("embedder.dimension", concat(embedder_name(embedder), ": rows of ", d,
                                                           " floats, they were ", width, " before"));
    // NaN beforehand: a row that the embedder leaves out cannot pass for a row of zeros.
    std::vector<float> rows(texts.size() * d, std::numeric_limits<float>::quiet_NaN());
    if (texts.empty()) return rows;
    embedder.embed(r, texts, rows);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::span<const float> row = std::span(rows).subspan(i * d, d);
        if (!is_finite(row))
            raise<callable_error>("embedder.not_finite",
                                  concat(embedder_name(embedder), ": row ", i,
                                         " holds a NaN or an infinity, for the text ", detail::quoted(texts[i])));
        if (!zero_means_unknown<E> && std::ranges::all_of(row, [](float x) { return x == 0.0f; }))
            raise<callable_error>("embedder.zero_vector",
                                  concat(embedder_name(embedder), ": row ", i, " is zero, for the text ",
                                         detail::quoted(texts[i])));
    }
    return rows;
}

}  // namespace QUARRY_NAMESPACE
