// A language model for the example programs: the server that two variables name, or else what stands in for it.
//
//     QUARRY_SERVER_URL=http://localhost:11434/v1 QUARRY_SERVER_MODEL=llama3.2 build/release/bin/contextual
//
// Any server with OpenAI's chat completions will do; QUARRY_SERVER_KEY is sent to it, if it is set. Every call is a
// process of `curl`: nothing to link, and enough for programs that ask a few times. A client of your own needs no more
// than this one's operator().
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "quarry/model/generator.hpp"

class language_model {
   public:
    /// Without a stand-in, only where `is_served`.
    explicit language_model(std::function<std::string(const quarry::prompt&)> stand_in = {});

    /// Errors  std::runtime_error with what curl or the server said; what the stand-in throws.
    quarry::completion operator()(const quarry::prompt& p, std::stop_token stop = {}) const;

    bool is_served() const noexcept { return !url_.empty(); }
    const std::string& name() const noexcept { return name_; }

   private:
    std::function<std::string(const quarry::prompt&)> stand_in_;
    std::string url_, key_, name_ = "stand-in";
};
