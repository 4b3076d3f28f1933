// Template tokens: what chat formats put between the turns of a conversation.
//
// In a reply they mean that the model ran on into a turn that nobody asked for. In a document they are an attack or an
// accident: some servers read them as turns wherever they stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

/// Bytes [begin, end) of a template token; empty and at the end of the text if there is none.
struct token_span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// How long a token is that starts at `at`; 0 if none does. <|name|> in all its spellings, the older ones by name. A
// name has no blanks: F# and OCaml write `f <| x |> g`.
inline std::size_t template_token_at(std::string_view text, std::size_t at) noexcept {
    const std::string_view here = text.substr(at);
    if (here.empty() || (here[0] != '<' && here[0] != '[')) return 0;
    for (const std::string_view name :
         {"<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "</s>", "<<SYS>>", "<</SYS>>", "[INST]", "[/INST]"})
        if (here.starts_with(name)) return name.size();
    for (const std::string_view bar : {"|", "\xEF\xBD\x9C"}) {  // U+FF5C, as DeepSeek writes it
        constexpr std::size_t longest_name = 64;
        if (here.substr(1, bar.size()) != bar) continue;
        std::size_t end = 1 + bar.size();
        const std::size_t name = end;
        while (end < here.size() && end - name < longest_name) {
            const auto c = static_cast<unsigned char>(here[end]);
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letter && c != '_' && c != '-' && (c < 0x80 || here.substr(end).starts_with(bar))) break;
            ++end;
        }
        if (end > name && here.substr(end).starts_with(bar) && here.substr(end + bar.size()).starts_with('>'))
            return end + bar.size() + 1;
    }
    return 0;
}

/// The first template token at or after `from`.  Cost  linear.
inline token_span find_template_token(std::string_view text, std::size_t from = 0) noexcept {
    for (std::size_t at = text.find_first_of("<[", from); at != std::string_view::npos;
         at = text.find_first_of("<[", at + 1))
        if (const std::size_t length = template_token_at(text, at); length != 0) return {at, at + length};
    return {text.size(), text.size()};
}

/// `text` with a blank put into every template token, so that no server can read one.
inline std::string without_template_tokens(std::string_view text) {
    std::string out;
    std::size_t copied = 0;
    for (token_span t = find_template_token(text); t.begin != t.end; t = find_template_token(text, t.begin + 1)) {
        out.append(text.substr(copied, t.begin + 1 - copied));
        out += ' ';
        copied = t.begin + 1;
    }
    return out.append(text.substr(copied));
}

}  // namespace QUARRY_NAMESPACE::detail
