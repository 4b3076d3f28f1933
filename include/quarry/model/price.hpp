// Prices: what tokens cost.
//
// The library ships no prices: they change, and a wrong one is worse than none. Four numbers from the provider's page
// make a price; a table of them by model name is a std::map.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../detail/text.hpp"
#include "completion.hpp"

namespace QUARRY_NAMESPACE {

/// Dollars for a million tokens.
struct model_price {
    double input = 0.0;
    double cache_write = 0.0;  // into the provider's prompt cache; often a quarter more than input
    double cache_read = 0.0;   // from there; often a tenth of input
    double output = 0.0;

    friend bool operator==(const model_price&, const model_price&) = default;
};

using price_table = std::map<std::string, model_price, std::less<>>;

inline double dollars(const token_usage& used, const model_price& price) noexcept {
    return (static_cast<double>(used.input) * price.input + static_cast<double>(used.cache_write) * price.cache_write +
            static_cast<double>(used.cache_read) * price.cache_read + static_cast<double>(used.output) * price.output) /
           1e6;
}

/// The price of a model.  Errors  usage_error `price.unknown_model`.
inline const model_price& price_of(const price_table& prices, std::string_view model) {
    const auto found = prices.find(model);
    if (found == prices.end())
        detail::raise<usage_error>(
            "price.unknown_model",
            detail::concat("quarry::price_of: no price for ", detail::quoted(model), " among ", prices.size()));
    return found->second;
}

namespace detail {

/// Errors  usage_error `price.value` for a price that is negative or no number.
inline void require_price(const model_price& price, std::string_view where) {
    for (const double value : {price.input, price.cache_write, price.cache_read, price.output})
        if (!(value >= 0.0 && value <= 1e9))
            raise<usage_error>("price.value",
                               concat(where, ": dollars for a million tokens lie in [0, 1e9], this is ", value));
}

}  // namespace detail
}  // namespace QUARRY_NAMESPACE
