// The conformance tests of the Unicode database, if this machine has them (Debian: package unicode-data).
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/text/utf8.hpp"

namespace unicode_tests {

/// A text cut by the database's own cuts: "÷ 0061 × 0308 ÷" is one piece of two code points.
struct cut_line {
    std::vector<std::string> pieces;
    std::string source;  // the line itself, to show

    std::string text() const {
        std::string all;
        for (const std::string& p : pieces) all += p;
        return all;
    }
};

inline std::string encoded(char32_t c) {
    std::string out;
    quarry::encode(c, out);
    return out;
}

inline char32_t point_of(std::string_view hexadecimal) {
    return static_cast<char32_t>(std::stoul(std::string(hexadecimal), nullptr, 16));
}

inline std::vector<std::string> split(std::string_view text, char by) {
    std::vector<std::string> out(1);
    for (const char c : text)
        if (c == by)
            out.emplace_back();
        else
            out.back() += c;
    return out;
}

/// "0061 0308" as text.
inline std::string text_of(std::string_view points) {
    std::string out;
    for (const std::string& p : split(points, ' '))
        if (!p.empty()) out += encoded(point_of(p));
    return out;
}

inline cut_line parsed_cuts(std::string_view line) {
    cut_line out;
    out.source = line;
    for (const std::string& word : split(line, ' ')) {
        if (word == "÷")
            out.pieces.emplace_back();
        else if (word != "×" && !word.empty())
            out.pieces.back() += encoded(point_of(word));
    }
    if (!out.pieces.empty() && out.pieces.back().empty()) out.pieces.pop_back();
    return out;
}

/// The lines of a file without comments; none if there is no such file.
inline std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> out;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find('#'));
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.pop_back();
        if (!line.empty()) out.push_back(line);
    }
    return out;
}

}  // namespace unicode_tests
