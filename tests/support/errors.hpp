// What a test says of an error: its code.
#pragma once

#include <string>

#include "quarry/core/error.hpp"

/// The code of the quarry::error that `f` throws, or a word for anything else it does.
template <class F>
std::string code_of(F f) {
    try {
        f();
    } catch (const quarry::error& e) {
        return std::string(e.code());
    } catch (...) {
        return "(another exception)";
    }
    return "(no exception)";
}

/// Its message.
template <class F>
std::string message_of(F f) {
    try {
        f();
    } catch (const quarry::error& e) {
        return e.what();
    }
    return "(no error)";
}
