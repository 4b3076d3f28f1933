// Replies: what is taken from what a model wrote, and what was noticed on the way.
//
// A model that was asked for three questions writes one, or nine, or an apology, or a list of steps, or the next
// prompt. Nothing here throws because of that, and nothing comes back empty without saying why: everything that was
// repaired, left out or found odd is noticed, and techniques count it.
//
// Two grammars:
//   text       one piece of prose: a context, a summary, a description. Everything is text that is not wrapping.
//   questions  one question a line. A question ends with a question mark; whatever does not is left out.
//
// Wrapping is what stands around the answer and is no part of it: a byte-order mark, a block of reasoning, a Markdown
// fence around the whole, "Here is the context:", "Summary:", a closing remark, and what comes after a token of a chat
// format or after a line by which the model begins the next prompt itself.
//
// The surprising thing: usable is not the same as faultless. A text that was cut off in its last word, or is a sentence
// too long, or quotes half of its source still helps a search; one that goes round in circles or merely returns what it
// was given does not.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../config.hpp"
#include "../detail/ascii.hpp"
#include "../detail/json_scan.hpp"
#include "../detail/template_tokens.hpp"
#include "../detail/text.hpp"
#include "../text/utf8.hpp"
#include "completion.hpp"
#include "notices.hpp"
#include "word_runs.hpp"

namespace QUARRY_NAMESPACE {

struct text_rules {
    std::size_t sentences = 0;              // asked for; 0: any number
    std::size_t most_bytes = 4096;          // of the text; longer ones end at the last whole sentence or word before
    double most_copied = 0.8;               // a text with a larger share of the prompt's own words in it is not usable
    std::size_t longest = 64 * 1024;        // bytes of the reply that are looked at
    std::span<const std::string> labels{};  // how lines begin by which the model writes the prompt on (prompt::labels)
    const known_runs* prompt = nullptr;     // what the model was given, for telling copies; null: they are not told
    std::string_view passage{};             // what it was to describe: returning just that is a copy, however short
};

struct text_reply {
    std::string text{};
    bool usable = false;
    notices seen{};
    double copied = 0.0;  // share of its runs of eight words that stand in the prompt
};

/// One piece of prose.
///
/// Not usable: empty, without a letter, a refusal, a loop (five words in a row that come three times), or copied.
/// Cost  linear in the reply, of which at most `longest` bytes are looked at.
text_reply read_text(const completion& reply, const text_rules& rules = {});

struct question_rules {
    std::size_t asked = 0;                // for; 0: any number
    std::size_t most = 100;               // questions that are taken
    std::size_t longest_question = 1000;  // bytes; longer ones are left out
    std::size_t longest = 64 * 1024;      // as above
    std::span<const std::string> labels{};
    bool statements = false;  // lines that are no questions are taken as well: a rewrite may be a handful of words
};

struct question_reply {
    std::vector<std::string> questions{};  // distinct apart from case, in the order they were written
    notices seen{};

    bool usable() const noexcept { return !questions.empty(); }
};

/// Questions, one a line; or the texts of a JSON list or object. Where statements are taken too, a line that ends with
/// a colon announces others, and the last of several is left out if a limit of tokens cut it off before its end.
///
/// Taken off a line: bullets, numbers with a full stop, bracket or colon, labels ("Q1:", "Question:", a word that
/// numbers several lines), quotation marks and emphasis. Numbers that belong to the question stay ("3D printing", "2024
/// was ..."). Several numbered questions on one line are several questions. Cost  linear in the reply, of which at most
/// `longest` bytes are looked at.
question_reply read_questions(const completion& reply, const question_rules& rules = {});

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

// Blanks of more scripts than ASCII's, and marks that have no width.
inline std::size_t blank_at(std::string_view text) noexcept {
    if (text.empty()) return 0;
    if (is_ascii_space(text.front())) return 1;
    const code_point c = decode(text);
    const bool blank = c.value == 0xA0 || c.value == 0x3000 || c.value == 0xFEFF ||
                       (c.value >= 0x2000 && c.value <= 0x200B) || c.value == 0x2028 || c.value == 0x2029 ||
                       c.value == 0;
    return blank ? c.length : 0;
}

inline std::string_view without_leading_blanks(std::string_view text) noexcept {
    while (const std::size_t length = blank_at(text)) text.remove_prefix(length);
    return text;
}

inline std::string_view without_blanks(std::string_view text) noexcept {
    text = without_leading_blanks(text);
    while (!text.empty()) {
        std::size_t start = text.size() - 1;
        while (start > 0 && text.size() - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80)
            --start;
        const std::size_t length = blank_at(text.substr(start));
        if (length == 0 || start + length != text.size()) break;
        text.remove_suffix(length);
    }
    return text;
}

inline bool starts_with_word(std::string_view text, std::string_view words) noexcept {
    if (text.size() < words.size()) return false;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (ascii_lower(text[i]) != words[i]) return false;
    if (text.size() == words.size()) return true;
    const char next = text[words.size()];
    return !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9') ||
             next == '_');
}

inline bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) noexcept {
    return std::ranges::any_of(words, [&](std::string_view w) { return starts_with_word(text, w); });
}

inline std::string_view first_line(std::string_view text) noexcept {
    return text.substr(0, text.find_first_of("\r\n"));
}

/// At most `most` bytes of a text, never half a character.
inline std::string_view clipped(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return text.substr(0, most);
}

// Thoughts before the answer. Servers may keep the opening tag for themselves, so the closing one counts alone.
inline std::string_view without_reasoning(std::string_view text, notices& seen) {
    for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"<think>", "</think>"},
                                      std::pair<std::string_view, std::string_view>{"<thinking>", "</thinking>"}}) {
        const std::size_t end = text.rfind(close);
        if (end != std::string_view::npos) {
            seen.add(noticed::reasoning);
            return without_leading_blanks(text.substr(end + close.size()));
        }
        if (text.starts_with(open)) {
            seen.add(noticed::reasoning);
            return {};
        }
    }
    return text;
}

// The turn the answer stands in: after tokens that open it, before the first that ends it.
inline std::string_view own_turn(std::string_view text, notices& seen) {
    while (const std::size_t length = template_token_at(text, 0)) {
        seen.add(noticed::template_token);
        const std::string_view token = text.substr(0, length);
        text.remove_prefix(length);
        if (token == "<|user|>" || token == "<|system|>") return {};
        // <|im_start|>assistant, <start_of_turn>model; any other name begins somebody else's turn.
        if (token.find("start") != std::string_view::npos) {
            const std::string_view role = text.substr(0, (std::min)(text.find_first_of("\r\n<"), std::size_t{24}));
            if (role.empty()) continue;
            if (!starts_with_any(role, {"assistant", "model", "bot"}) && role.size() < 24) return {};
            for (const std::string_view own : {"assistant", "model", "bot"})
                if (role == own) text.remove_prefix(own.size());
        }
        text = without_leading_blanks(text);
    }
    // The name of the turn alone, left behind by a template whose tokens were not shown.
    for (const std::string_view own : {"assistant", "model", "bot"}) {
        if (!starts_with_word(text, own)) continue;
        const std::string_view rest = text.substr(own.size());
        const bool colon = own == "assistant" && rest.starts_with(':');
        if (!colon && !rest.starts_with('\n') && !rest.starts_with('\r')) continue;
        seen.add(noticed::template_token);
        text = without_leading_blanks(rest.substr(colon));
    }
    const token_span token = find_template_token(text);
    seen.add_if(token.begin != token.end, noticed::template_token);
    text = text.substr(0, token.begin);
    // A token that the limit cut in two: <|im
    if (const std::size_t at = text.rfind("<|"); at != std::string_view::npos && text.size() - at <= 24) {
        const std::string_view rest = text.substr(at + 2);
        const bool name = std::ranges::all_of(
            rest, [](char c) { return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '_' || c == '|'; });
        if (name) {
            seen.add(noticed::template_token);
            text = text.substr(0, at);
        }
    }
    return text;
}

// Up to the first line that begins like a piece of the prompt.
inline std::string_view before_next_prompt(std::string_view text, std::span<const std::string> labels, notices& seen) {
    if (labels.empty()) return text;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t first = at;
        while (first < text.size() &&
               (text[first] == ' ' || text[first] == '\t' || text[first] == '*' || text[first] == '#'))
            ++first;
        const std::string_view line = text.substr(first);
        for (const std::string& label : labels)
            if (!label.empty() && line.starts_with(label)) {
                seen.add(noticed::runs_on);
                return text.substr(0, at);
            }
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;
        at = end + 1;
    }
    return text;
}

// A fence around the whole, taken off; a missing end is a reply that was cut off.
inline std::string_view without_fence(std::string_view text, notices& seen) {
    for (const char mark : {'`', '~'}) {
        std::size_t width = 0;
        while (width < text.size() && text[width] == mark) ++width;
        if (width < 3) continue;
        const std::string_view opening = first_line(text);
        if (opening.substr(width).find('`') != std::string_view::npos) continue;  // ```inline```
        seen.add(noticed::fence);
        const std::size_t content = (std::min)(text.find('\n'), text.size() - 1) + 1;
        for (std::size_t at = content; at < text.size();) {
            const std::size_t end = (std::min)(text.find('\n', at), text.size());
            const std::string_view line = without_blanks(text.substr(at, end - at));
            if (line.size() >= width && line.find_first_not_of(mark) == std::string_view::npos)
                // What follows a fence may be the answer, and the fence its subject: then all of it stays.
                return without_blanks(text.substr(end)).empty() ? without_blanks(text.substr(content, at - content))
                                                                : text;
            at = end + 1;
        }
        return without_blanks(text.substr(content));
    }
    seen.add_if(text.find("```") != std::string_view::npos, noticed::fence);
    return text;
}

// "Sure! Here is the context:" and its like, up to the colon, if anything follows.
inline std::string_view without_preamble(std::string_view text, notices& seen) {
    std::string_view rest = text;
    while (rest.starts_with('*') || rest.starts_with('#') || rest.starts_with('_'))
        rest.remove_prefix(1);  // **Here is ...:**
    rest = without_leading_blanks(rest);
    bool greeted = false;
    if (starts_with_any(rest, {"sure", "certainly", "of course", "absolutely", "okay", "ok", "great", "yes",
                               "understood", "got it"})) {
        const std::size_t end = rest.find_first_of("!.,:\n");
        if (end != std::string_view::npos && end < 24) {
            rest = without_leading_blanks(rest.substr(end + 1));
            greeted = true;
        }
    }
    const std::string_view head = rest.substr(0, 160);
    std::size_t colon = head.find(':');
    std::size_t after = colon == std::string_view::npos ? colon : colon + 1;
    if (const std::size_t wide = head.find("\xEF\xBC\x9A"); wide < colon) colon = wide, after = wide + 3;  // U+FF1A
    if (colon == std::string_view::npos || head.substr(0, colon).find('\n') != std::string_view::npos) return text;
    while (after < rest.size() && (rest[after] == '*' || rest[after] == '_')) ++after;
    const bool ends_it = after == rest.size() || is_ascii_space(rest[after]) || rest[after - 1] != ':';
    const bool points = starts_with_any(rest, {"here is", "here's", "here are", "here\xE2\x80\x99s", "below is",
                                               "below are", "hier ist", "hier sind", "voici", "aqu\xC3\xAD est\xC3\xA1",
                                               "aqu\xC3\xAD tienes", "ecco"}) ||
                        rest.starts_with("\xD0\x92\xD0\xBE\xD1\x82 ") || rest.starts_with("\xE4\xBB\xA5\xE4\xB8\x8B");
    const bool whole_line = after == rest.size() || rest[after] == '\n' || rest[after] == '\r';
    const bool names_it =
        whole_line &&
        (greeted || starts_with_any(rest, {"the following is", "the following are", "the context is", "the summary is",
                                           "the description is", "the answer is", "the questions are"}));
    // "Here is the class that parses dates: it ..." announces nothing.
    const std::string announced = case_folded(head.substr(0, colon));
    const bool names_reply = std::ranges::any_of(
        std::initializer_list<std::string_view>{"context", "summary", "description", "sentence", "answer", "reply",
                                                "response", "question", "passage"},
        [&](std::string_view noun) { return announced.find(noun) != std::string::npos; });
    const std::string_view answer = without_blanks(rest.substr(after));
    if (!ends_it || !((points && (whole_line || names_reply)) || names_it) || answer.empty()) return text;
    seen.add(noticed::preamble);
    return without_leading_blanks(answer);
}

// The inside of <name>...</name>, if that is all of the text, and whether it was.
inline bool take_tags_off(std::string_view& text) noexcept {
    if (!text.starts_with('<') || !text.ends_with('>')) return false;
    const std::string_view name = text.substr(1, text.find('>') - 1);
    const std::size_t length = 2 * name.size() + 5;
    if (name.empty() || text.size() < length || !std::ranges::all_of(name, [](char c) {
            return is_ascii_letter(c) || c == '_' || c == '-';
        }))
        return false;
    const std::string_view inside = text.substr(name.size() + 2, text.size() - length);
    const std::string_view close = text.substr(name.size() + 2 + inside.size());
    if (!close.starts_with("</") || close.substr(2, name.size()) != name || inside.find(close) != inside.npos)
        return false;
    text = without_blanks(inside);
    return true;
}

// "Summary:", "**Context:**", "# Context" on a line of its own, <context>...</context>
inline std::string_view without_answer_label(std::string_view text, notices& seen) {
    std::string_view rest = text;
    const bool heading = text.starts_with('#') || text.starts_with("**");
    while (rest.starts_with('*') || rest.starts_with('#') || rest.starts_with('_')) rest.remove_prefix(1);
    rest = without_leading_blanks(rest);
    for (const std::string_view word :
         {"context", "summary", "description", "answer", "reply", "response", "output", "result"}) {
        if (!starts_with_word(rest, word)) continue;
        std::string_view after = rest.substr(word.size());
        while (after.starts_with('*') || after.starts_with('_') || after.starts_with(' ')) after.remove_prefix(1);
        if (after.starts_with(':')) {
            after.remove_prefix(1);
            while (after.starts_with('*') || after.starts_with('_')) after.remove_prefix(1);
        } else if (!heading || !(after.starts_with('\n') || after.starts_with('\r'))) {
            continue;
        }
        const std::string_view answer = without_leading_blanks(after);
        if (!answer.empty() && answer.size() == after.size()) continue;
        seen.add(noticed::label);
        return answer;
    }
    seen.add_if(take_tags_off(text), noticed::label);
    return text;
}

inline bool addresses_the_reader(std::string_view line) noexcept {
    return starts_with_any(line, {"let me know", "please let me know", "i hope this helps", "i hope that helps",
                                  "hope this helps", "feel free to", "is there anything else", "would you like",
                                  "do you want me", "shall i", "do you need", "if you need", "if you have any"});
}

// A last paragraph that speaks to the reader.
inline std::string_view without_closing(std::string_view text, notices& seen) {
    const std::size_t last = text.rfind("\n\n");
    if (last == std::string_view::npos || !addresses_the_reader(without_leading_blanks(text.substr(last)))) return text;
    seen.add(noticed::closing);
    return without_blanks(text.substr(0, last));
}

// "None.", "N/A": a word that says that there is nothing to say.
inline bool says_nothing(std::string_view text) {
    while (!text.empty() && (text.back() == '.' || text.back() == '!')) text.remove_suffix(1);
    const std::string word = text.size() < 16 ? case_folded(without_blanks(text)) : std::string();
    return word == "none" || word == "n/a" || word == "null" || word == "nothing";
}

inline bool is_refusal(std::string_view text) noexcept {
    if (starts_with_any(text, {"as an ai", "as a language model", "as a large language model"})) return true;
    // "I'm sorry, but I can't", with either apostrophe
    std::string head;
    for (std::size_t i = 0; i < text.size() && head.size() < 120; ++i) {
        if (text.substr(i).starts_with("\xE2\x80\x99")) head += '\'', i += 2;
        else head += ascii_lower(text[i]);
    }
    const std::string_view rest = head;
    const bool sorry =
        starts_with_any(rest, {"i'm sorry", "i am sorry", "sorry", "i apologize", "my apologies", "unfortunately"});
    constexpr std::string_view unable[] = {"i cannot",    "i can't",       "i can not",     "i'm unable",
                                           "i am unable", "i'm not able",  "i am not able", "i won't",
                                           "i will not",  "i do not have", "i don't have"};
    for (const std::string_view words : unable) {
        const std::size_t at = rest.find(words);
        if (at == 0 || (sorry && at != std::string_view::npos)) return true;
    }
    return false;
}

// What every reader begins with: the bytes that are looked at, and of these the answer's own turn.
template <class Rules>
std::string_view own_words(const completion& reply, const Rules& rules, notices& seen) {
    std::string_view text = clipped(reply.text, rules.longest);
    seen.add_if(text.size() < reply.text.size(), noticed::over_limit);
    seen.add_if(reply.cut_off, noticed::truncated);
    text = without_blanks(text);
    text = without_reasoning(text, seen);
    text = own_turn(text, seen);
    return without_blanks(before_next_prompt(text, rules.labels, seen));
}

// Where sentences end: a full stop, exclamation or question mark before a blank or the end; their wide forms anywhere.
template <class End>
void for_each_sentence_end(std::string_view text, End end) {
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '.' || c == '!' || c == '?') {
            if (at + 1 == text.size() || is_ascii_space(text[at + 1])) end(at + 1);
            ++at;
        } else if (const std::string_view here = text.substr(at, 3);
                   here == "\xE3\x80\x82" || here == "\xEF\xBC\x81" ||
                   here == "\xEF\xBC\x9F") {  // U+3002, U+FF01, U+FF1F
            at += 3;
            end(at);
        } else {
            ++at;
        }
    }
}

inline bool ends_a_sentence(std::string_view text) {
    std::size_t last = 0;
    for_each_sentence_end(text, [&](std::size_t end) { last = end; });
    return last != 0 && last == text.size();
}

/// Sentences, a last one without an end included.
inline std::size_t count_sentences(std::string_view text) {
    std::size_t count = 0, last = 0;
    for_each_sentence_end(text, [&](std::size_t end) { ++count, last = end; });
    return count + !without_blanks(text.substr(last)).empty();
}

/// A text of at most `most` bytes that ends with a sentence, or else with a word, or else with a character.
inline std::string_view shortened(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    const std::string_view room = clipped(text, most);
    std::size_t last = 0;
    for_each_sentence_end(clipped(text, most + 1), [&](std::size_t end) {
        if (end <= room.size()) last = end;
    });
    if (last == 0 && (last = room.find_last_of(" \t\r\n")) == std::string_view::npos) last = room.size();
    return without_blanks(room.substr(0, last));
}

// Digits of a marker: ASCII's, or their wide forms.
inline std::size_t digit_at(std::string_view text) noexcept {
    if (text.empty()) return 0;
    if (text[0] >= '0' && text[0] <= '9') return 1;
    return text.size() >= 3 && text[0] == '\xEF' && text[1] == '\xBC' && text[2] >= '\x90' && text[2] <= '\x99' ? 3 : 0;
}

inline std::size_t digits_at(std::string_view text) noexcept {
    std::size_t length = 0, count = 0;
    while (const std::size_t one = digit_at(text.substr(length))) {
        if (++count > 3) return 0;  // a year is no number in a list
        length += one;
    }
    return length;
}

// "1.", "1)", "(1)", "[1]", "1:", their wide forms, "a)": how many bytes with the blanks after them; 0 for no marker.
inline std::size_t number_marker(std::string_view text) noexcept {
    std::size_t at = 0;
    const bool bracket = text.starts_with('(') || text.starts_with('[');
    if (bracket) at = 1;
    const std::size_t digits = digits_at(text.substr(at));
    const bool letter =
        digits == 0 && !text.substr(at).empty() && ascii_lower(text[at]) >= 'a' && ascii_lower(text[at]) <= 'h';
    if (digits == 0 && !letter) return 0;
    const bool wide_digit = digits != 0 && text[at] == '\xEF';
    at += digits + letter;
    const std::string_view rest = text.substr(at);
    std::size_t end = 0;
    bool wide = false;
    if (rest.starts_with(')') || (bracket && rest.starts_with(']'))) end = 1;
    else if (!bracket && !letter && (rest.starts_with('.') || rest.starts_with(':'))) end = 1;
    else
        for (const std::string_view mark :
             {"\xEF\xBC\x8E", "\xEF\xBC\x89", "\xE3\x80\x81", "\xEF\xBC\x9A"})  // U+FF0E FF09 3001 FF1A
            if (!letter && rest.starts_with(mark)) end = 3, wide = true;
    if (end == 0) return 0;
    std::string_view after = rest.substr(end);
    const std::string_view question = without_leading_blanks(after);
    // "3.5 mm" and "12:30" are no markers; "1.What" is one.
    const bool glued = question.size() == after.size() && !question.empty();
    if (glued && !wide && !wide_digit) {
        const bool letter_follows = (ascii_lower(question[0]) >= 'a' && ascii_lower(question[0]) <= 'z') ||
                                    static_cast<unsigned char>(question[0]) >= 0x80;
        if (rest[0] == ':' || !letter_follows) return 0;
    }
    return text.size() - question.size();
}

inline std::size_t bullet_marker(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto after_blanks = [&](std::size_t length) {
        return text.size() - without_leading_blanks(text.substr(length)).size();
    };
    if (text[0] == '-' || text[0] == '*' || text[0] == '+' || text[0] == '>') {
        if (text.size() == 1) return 1;
        if (is_ascii_space(text[1])) return after_blanks(1);
        const char next = ascii_lower(text[1]);  // "-What"; but "**What**" is emphasis and "-40 degrees" a number
        return text[0] == '-' && next >= 'a' && next <= 'z' ? 1 : 0;
    }
    for (const std::string_view mark :
         {"\xE2\x80\xA2", "\xE2\x80\xA3", "\xE2\x97\xA6", "\xE2\x96\xAA", "\xE2\x97\x8F", "\xE2\x97\x8B",
          "\xE2\x81\x83", "\xE2\x80\x93", "\xE2\x80\x94", "\xC2\xB7", "\xE3\x83\xBB"})
        if (text.starts_with(mark)) return after_blanks(mark.size());
    return 0;
}

// A word, perhaps a number, and a colon: "Variant 2: ". The word is empty if the line has none.
struct line_label {
    std::string_view word{};
    std::size_t number = 0;  // 0: none
    std::size_t length = 0;  // with the blanks after it
};

inline line_label label_of(std::string_view text) noexcept {
    const auto in_word = [](char c) {
        return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    };
    std::size_t at = 0;
    while (at < text.size() && at < 32 && in_word(text[at])) ++at;
    if (at == 0 || at >= text.size()) return {};
    line_label label{.word = text.substr(0, at)};
    if (text[at] == ' ') ++at;
    if (text.substr(at).starts_with('#')) ++at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && label.number < 1000)
        label.number = 10 * label.number + static_cast<std::size_t>(text[at++] - '0');
    const std::string_view rest = text.substr(at);
    std::size_t mark = rest.starts_with(':') ? 1 : rest.starts_with("\xEF\xBC\x9A") ? 3 : 0;
    if (mark == 0 && label.number != 0 && (rest.starts_with('.') || rest.starts_with(')'))) mark = 1;
    if (mark == 0) return {};
    std::string_view after = rest.substr(mark);
    while (after.starts_with('*') || after.starts_with('_')) after.remove_prefix(1);
    const std::string_view question = without_leading_blanks(after);
    if (mark == 1 && question.size() == after.size() && !question.empty()) return {};  // std::vector, http://
    label.length = text.size() - question.size();
    return label;
}

inline bool names_a_question(const line_label& label) {
    const std::string word = case_folded(label.word);
    const auto among = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, word) != words.end();
    };
    return among({"q", "question", "questions", "query", "sub-question", "subquestion", "follow-up", "frage",
                  "pregunta", "domanda", "pergunta", "\xD0\xB2\xD0\xBE\xD0\xBF\xD1\x80\xD0\xBE\xD1\x81",  // Russian
                  "\xE8\xB3\xAA\xE5\x95\x8F", "\xE9\x97\xAE\xE9\xA2\x98",
                  "\xE5\x95\x8F\xE9\xA1\x8C"}) ||  // Japanese, Chinese
           (label.number != 0 && among({"variant", "rewrite", "version", "alternative", "option"}));
}

// A line without its markers, and whether it had any.
inline std::string_view without_markers(std::string_view line, notices& seen) {
    for (int rounds = 0; rounds < 6; ++rounds) {  // "- 1. **Q1:** What"
        line = without_blanks(line);
        std::size_t length = 0;
        while (line.starts_with('#')) line.remove_prefix(1);
        if (line.starts_with("**") || line.starts_with("__")) length = 2;
        else if ((length = number_marker(line)) != 0) seen.add(noticed::numbering);
        else if ((length = bullet_marker(line)) != 0) seen.add(noticed::bullets);
        else if (const line_label label = label_of(line); label.length != 0 && names_a_question(label)) {
            length = label.length;
            seen.add(noticed::label);
        }
        if (length == 0) return line;
        line.remove_prefix(length);
    }
    return without_blanks(line);
}

// A line without what closes quotation marks and emphasis, and those that open them if they did close.
inline std::string_view without_quotes(std::string_view line) noexcept {
    for (bool changed = true; changed && !line.empty();) {
        changed = false;
        line = without_blanks(line);
        for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"\"", "\""},
                                          {"'", "'"},
                                          {"`", "`"},
                                          {"*", "*"},
                                          {"_", "_"},
                                          {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                                          {"\xE2\x80\x9E", "\xE2\x80\x9C"},
                                          {"\xC2\xAB", "\xC2\xBB"},
                                          {"\xE3\x80\x8C", "\xE3\x80\x8D"}}) {
            if (line.size() < open.size() + close.size() || !line.starts_with(open) || !line.ends_with(close)) continue;
            const std::string_view inside = line.substr(open.size(), line.size() - open.size() - close.size());
            if (inside.find(open) != std::string_view::npos) continue;  // "Foo" or "bar?"
            line = inside;
            changed = true;
        }
        // "What is it?**" whose opening was taken off as a marker, and a comma between the texts of a list
        for (const std::string_view tail : {"**", "__", ","})
            if (line.ends_with(tail)) line.remove_suffix(tail.size()), changed = true;
    }
    return line;
}

// Does it end with a question mark? ASCII's, wide, Arabic, reversed, or the Greek one.
inline bool ends_as_question(std::string_view line) noexcept {
    for (const std::string_view mark :
         {"?", "\xEF\xBC\x9F", "\xD8\x9F", "\xE2\xB8\xAE", "\xE2\x81\x87", "\xE2\x81\x88", "\xEF\xB9\x96", "\xCD\xBE"})
        if (line.ends_with(mark)) return true;
    return false;
}

// Lines, and numbered questions that stand on one line apart: "1. A? 2. B?"
inline std::vector<std::string_view> question_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = (std::min)(text.find_first_of("\r\n"), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
        if (text.starts_with("\r\n")) text.remove_prefix(2);
        else if (!text.empty()) text.remove_prefix(1);
        std::size_t begin = 0;
        for (std::size_t at = line.find_first_of("?:"); at != std::string_view::npos;
             at = line.find_first_of("?:", at + 1)) {
            const std::string_view rest = line.substr(at + 1);
            const std::string_view next = without_leading_blanks(rest);
            if (next.size() == rest.size() || digit_at(next) == 0 || number_marker(next) == 0) continue;
            lines.push_back(line.substr(begin, at + 1 - begin));
            begin = line.size() - next.size();
        }
        lines.push_back(line.substr(begin));
    }
    return lines;
}

// "i.", "ii)", "(iii)" and so on up to "x": a label without a word.
inline line_label roman_label(std::string_view text) noexcept {
    constexpr std::string_view numerals[] = {"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"};
    const std::size_t begin = text.starts_with('(') ? 1 : 0;
    std::size_t end = begin;
    while (end < text.size() && end - begin < 5 && is_ascii_letter(text[end])) ++end;
    if (end == text.size() || (text[end] != ')' && (begin == 1 || text[end] != '.'))) return {};
    const std::string_view after = text.substr(end + 1), question = without_leading_blanks(after);
    if (question.size() == after.size()) return {};
    for (std::size_t n = 0; n < std::size(numerals); ++n)
        if (std::ranges::equal(text.substr(begin, end - begin), numerals[n], {}, ascii_lower))
            return {.word = {}, .number = n + 1, .length = text.size() - question.size()};
    return {};
}

// What may number lines: "Variant 2:" or "ii."
inline line_label numbering_of(std::string_view text) noexcept {
    const line_label label = label_of(text);
    return label.number != 0 ? label : roman_label(text);
}

// A line of a table is the question in it.
inline std::string_view question_cell(std::string_view line) noexcept {
    if (!line.starts_with('|') || !line.ends_with('|')) return line;
    for (std::size_t begin = 1; begin < line.size();) {
        const std::size_t end = line.find('|', begin);
        const std::string_view cell = without_quotes(line.substr(begin, end - begin));
        if (ends_as_question(cell)) return cell;
        begin = end + 1;
    }
    return line;
}

// "What is it? (It is a hub.)": without what only remarks on the question.
inline std::string_view without_remark(std::string_view line) noexcept {
    const std::size_t mark = line.rfind("? (");
    return mark != std::string_view::npos && line.ends_with(')') ? line.substr(0, mark + 1) : line;
}

// The texts in a JSON list or in the lists and members of an object.
inline void collect_texts(const json_value& value, std::vector<std::string>& out) {
    if (value.is(json_type::text)) out.push_back(value.text);
    for (const json_value& item : value.items) collect_texts(item, out);
}

// What stands between double quotation marks, names of members apart.
inline std::vector<std::string> quoted_texts(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
        std::string quoted;
        for (++at; at < text.size() && text[at] != '"'; ++at) {
            if (text[at] == '\\' && at + 1 < text.size()) ++at;
            quoted += text[at];
        }
        if (at == text.size()) break;
        if (!without_leading_blanks(text.substr(++at)).starts_with(':')) out.push_back(std::move(quoted));
    }
    return out;
}

// The texts of a reply that is a list: JSON, JSON that a limit cut off, or texts in quotation marks with commas.
inline std::vector<std::string> listed_texts(std::string_view text) {
    std::vector<std::string> out;
    const bool opens = text.starts_with('[') || text.starts_with('{');
    if (opens) {
        if (const json_scan found = scan_json(text, {.lists = true}); found && found.begin == 0)
            collect_texts(*found.value, out);
    }
    if (out.empty() && (opens || text.starts_with('"')) && text.find("\",") != std::string_view::npos)
        out = quoted_texts(text);
    return out;
}

}  // namespace detail

inline text_reply read_text(const completion& reply, const text_rules& rules) {
    using namespace detail;
    text_reply out;
    std::string_view text = own_words(reply, rules, out.seen);
    text = without_preamble(text, out.seen);
    text = without_fence(text, out.seen);
    text = without_preamble(text, out.seen);
    text = without_answer_label(text, out.seen);
    std::vector<std::string> texts;  // of a JSON reply
    if (text.starts_with('[') || text.starts_with('{')) {
        const json_scan found = scan_json(text, {.lists = true});
        if (found && found.begin == 0 && found.end == text.size()) collect_texts(*found.value, texts);
        if (texts.size() == 1) {
            out.seen.add(noticed::label);
            text = without_blanks(texts.front());
        }
    }
    text = without_blanks(without_closing(text, out.seen));
    out.seen.add_if(text.size() > rules.most_bytes, noticed::over_limit);
    text = shortened(text, rules.most_bytes);

    std::size_t items = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view line = without_blanks(first_line(text.substr(at)));
        items += !line.empty() && (bullet_marker(line) != 0 || (digit_at(line) != 0 && number_marker(line) != 0));
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;
        at = end + 1;
    }
    out.seen.add_if(items >= 2, noticed::list);
    out.seen.add_if(rules.sentences != 0 && count_sentences(text) > rules.sentences + 1, noticed::too_long);
    out.seen.add_if(most_repeated_run(text, 5) >= 3 || longest_stutter(text) >= 32, noticed::loop);
    out.seen.add_if(is_refusal(text), noticed::refusal);
    out.seen.add_if(!has_letter(text) || says_nothing(text), noticed::empty);
    if (rules.prompt) out.copied = rules.prompt->share_in(text);
    if (!rules.passage.empty() && word_numbers(text) == word_numbers(rules.passage)) out.copied = 1.0;
    out.seen.add_if(out.copied > 0.5, noticed::copies_prompt);
    out.usable = !out.seen.has(noticed::empty) && !out.seen.has(noticed::loop) && !out.seen.has(noticed::refusal) &&
                 out.copied <= rules.most_copied;
    out.text = text;
    return out;
}

inline question_reply read_questions(const completion& reply, const question_rules& rules) {
    using namespace detail;
    question_reply out;
    std::string_view text = without_fence(own_words(reply, rules, out.seen), out.seen);
    text = without_answer_label(text, out.seen);

    const std::vector<std::string> texts = listed_texts(text);  // of a JSON reply: what the lines are views of
    std::vector<std::string_view> lines;
    if (texts.empty()) lines = question_lines(text);
    else lines.assign(texts.begin(), texts.end());

    // A word that numbers lines from one on is a label, whatever the word: "Rephrasing 1: ... Rephrasing 2: ..."
    std::string_view numbering_word;
    std::size_t numbered = 0;
    std::vector<std::string_view> bare;
    for (const std::string_view line : lines) {
        bare.push_back(without_markers(question_cell(without_blanks(line)), out.seen));
        out.seen.add_if(take_tags_off(bare.back()), noticed::label);
        const line_label label = numbering_of(bare.back());
        if (label.number == 0) continue;
        if (label.number == 1) numbering_word = label.word, numbered = 1;
        else if (label.word == numbering_word && label.number == numbered + 1) ++numbered;
    }

    std::unordered_set<std::string> known;
    bool after_gap = false;
    for (std::size_t i = 0; i < bare.size(); ++i) {
        std::string_view line = bare[i];
        if (line.empty()) {
            after_gap = true;
            continue;
        }
        if (const line_label label = numbering_of(line);
            numbered >= 2 && label.number != 0 && label.word == numbering_word) {
            line = without_markers(line.substr(label.length), out.seen);
            out.seen.add(noticed::label);
        }
        line = without_remark(without_quotes(line));
        const bool remark = after_gap && !out.questions.empty() && addresses_the_reader(line);
        after_gap = false;
        if (remark) {
            out.seen.add(noticed::closing);
            continue;
        }
        if (!ends_as_question(line) || !has_letter(line)) {
            const bool announces = line.ends_with(':') || line.ends_with("\xEF\xBC\x9A");
            const bool unfinished =
                reply.cut_off && i + 1 == bare.size() && !out.questions.empty() && !ends_a_sentence(line);
            out.seen.add_if(announces, noticed::preamble);
            out.seen.add(noticed::not_a_question);
            if (!rules.statements || announces || unfinished || !has_letter(line)) continue;
        }
        if (line.size() > rules.longest_question || out.questions.size() >= rules.most) {
            out.seen.add(noticed::over_limit);
            continue;
        }
        if (!known.insert(case_folded(line)).second) {
            out.seen.add(noticed::duplicates);
            continue;
        }
        out.questions.emplace_back(line);
    }
    out.seen.add_if(rules.asked != 0 && out.questions.size() != rules.asked, noticed::count);
    out.seen.add_if(out.questions.empty(), noticed::empty);
    out.seen.add_if(out.questions.empty() && !without_blanks(reply.text).empty(), noticed::not_a_question);
    out.seen.add_if(out.questions.empty() && is_refusal(text), noticed::refusal);
    return out;
}

}  // namespace QUARRY_NAMESPACE
