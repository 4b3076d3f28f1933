#!/usr/bin/env python3
"""Writes include/quarry/text/unicode_tables.hpp from the Unicode character database.

    tools/unicode_tables.py [--ucd /usr/share/unicode] [--out include/quarry/text/unicode_tables.hpp]

The database is Debian's package unicode-data. The output depends on nothing else, so that running this again on the
same version gives the same bytes; a test does.

Two properties are kept for every code point, each as the number of a record that bundles what is asked together: one
record for cutting text (words, graphemes, sentences, pairs), one for normalising it. The numbers stand in a three-stage
table whose equal blocks are shared, written as text: a number n below 92 is the character n + 35, larger ones are two.
"""

import argparse
import pathlib
import re
import sys

LAST = 0x110000
ALPHABET = 92  # '#' to '~'

WORD = ["Other", "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Regional_Indicator", "Katakana", "Hebrew_Letter",
        "ALetter", "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum", "Numeric", "ExtendNumLet",
        "WSegSpace"]
# A Hangul syllable is LV or LVT by arithmetic: here all are "LV".
GRAPHEME = ["Other", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark", "L", "V",
            "T", "LV"]
SENTENCE = ["Other", "CR", "LF", "Sep", "Extend", "Format", "Sp", "Lower", "Upper", "OLetter", "Numeric", "ATerm",
            "SContinue", "STerm", "Close"]
PAIRED_SCRIPTS = {"Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"}


class Database:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        head = self.lines("DerivedNormalizationProps.txt", raw=True)[0]
        self.version = re.search(r"(\d+\.\d+\.\d+)", head).group(1)

    def lines(self, name, raw=False):
        with open(self.folder / name, encoding="utf-8") as file:
            lines = file.read().split("\n")
        if raw:
            return lines
        stripped = (line.split("#")[0].strip() for line in lines)
        return [line for line in stripped if line]

    def ranges(self, name):
        """(first, last, [fields]) of every line."""
        for line in self.lines(name):
            fields = [field.strip() for field in line.split(";")]
            first, _, last = fields[0].partition("..")
            yield int(first, 16), int(last or first, 16), fields[1:]

    def property(self, name, default, wanted=None):
        """The property's value for every code point: the second column, or True where it is `wanted`."""
        values = [default] * LAST
        for first, last, fields in self.ranges(name):
            if wanted is None or fields[0] == wanted:
                value = fields[0] if wanted is None else True
                values[first:last + 1] = [value] * (last + 1 - first)
        return values


def cutting_records(data):
    """For every code point (word, grapheme, sentence, flags)."""
    word = data.property("auxiliary/WordBreakProperty.txt", "Other")
    grapheme = data.property("auxiliary/GraphemeBreakProperty.txt", "Other")
    sentence = data.property("auxiliary/SentenceBreakProperty.txt", "Other")
    pictographic = data.property("emoji/emoji-data.txt", False, "Extended_Pictographic")
    emoji = data.property("emoji/emoji-data.txt", False, "Emoji_Presentation")
    line = data.property("LineBreak.txt", "XX")
    script = data.property("Scripts.txt", "Zzzz")
    category = data.property("extracted/DerivedGeneralCategory.txt", "Cn")
    modifier = data.property("emoji/emoji-data.txt", False, "Emoji_Modifier")
    records = []
    for c in range(LAST):
        makes_word = (word[c] in ("ALetter", "Hebrew_Letter", "Katakana", "Numeric") or category[c][0] == "L"
                      or category[c] in ("Nd", "Nl") or (emoji[c] and not modifier[c]))
        paired = script[c] in PAIRED_SCRIPTS or word[c] == "Katakana" or line[c] == "SA"
        flags = pictographic[c] * 1 + makes_word * 2 + paired * 4
        in_hangul_block = "LV" if grapheme[c] == "LVT" else grapheme[c]
        records.append((WORD.index(word[c]), GRAPHEME.index(in_hangul_block), SENTENCE.index(sentence[c]), flags))
    return records


class Normalization:
    def __init__(self, data):
        self.combining = [0] * LAST
        direct = {}
        compatible = {}
        for line in data.lines("UnicodeData.txt"):
            fields = line.split(";")
            c = int(fields[0], 16)
            self.combining[c] = int(fields[3])
            if fields[5]:
                parts = fields[5].split()
                target = compatible if parts[0].startswith("<") else direct
                target[c] = [int(part, 16) for part in parts if not part.startswith("<")]
        self.canonical = {c: self.expand(c, [direct]) for c in direct}
        both = {c: self.expand(c, [direct, compatible]) for c in sorted(set(direct) | set(compatible))}
        self.compatible = {c: to for c, to in both.items() if to != self.canonical.get(c)}
        excluded = set()
        for first, last, fields in data.ranges("DerivedNormalizationProps.txt"):
            if fields[0] == "Full_Composition_Exclusion":
                excluded.update(range(first, last + 1))
        self.composed = sorted((to[0], to[1], c) for c, to in direct.items() if len(to) == 2 and c not in excluded)
        self.quick = {"NFC_QC": {}, "NFKC_QC": {}}
        for first, last, fields in data.ranges("DerivedNormalizationProps.txt"):
            if fields[0] in self.quick:
                self.quick[fields[0]].update({c: fields[1] for c in range(first, last + 1)})
        self.ignorable = data.property("DerivedCoreProperties.txt", False, "Default_Ignorable_Code_Point")

    def expand(self, c, maps):
        for mapping in maps:
            if c in mapping:
                return [d for part in mapping[c] for d in self.expand(part, maps)]
        return [c]

    def records(self, folding):
        """For every code point (combining class, flags); `folding` holds those that case folding changes."""
        out = []
        for c in range(LAST):
            flags = (c in self.quick["NFC_QC"]) * 1 + (c in self.quick["NFKC_QC"]) * 2
            flags += (c in self.canonical) * 4 + (c in self.compatible) * 8 + bool(self.ignorable[c]) * 16
            firsts = {c, self.canonical.get(c, [c])[0], self.compatible.get(c, [c])[0]}
            attaches = any(self.combining[f] or self.quick["NFC_QC"].get(f) == "M" for f in firsts)
            flags += attaches * 32 + (c in folding) * 64
            out.append((self.combining[c], flags))
        return out


def case_folding(data):
    """Common and full foldings, as runs (first, last, step, by) and as lists of code points."""
    single, several = [], []
    for line in data.lines("CaseFolding.txt"):
        code, status, mapping = [field.strip() for field in line.split(";")][:3]
        to = [int(part, 16) for part in mapping.split()]
        if status == "C":
            single.append((int(code, 16), to[0] - int(code, 16)))
        elif status == "F":
            several.append((int(code, 16), to))
    runs = []
    for c, by in sorted(single):
        if runs and runs[-1][3] == by:
            first, last, step, _ = runs[-1]
            if c - last in (1, 2) and (first == last or c - last == step):
                runs[-1] = (first, c, c - last, by)
                continue
        runs.append((c, c, 1, by))
    return runs, sorted(several)


def quoted(numbers, width):
    """String literals, a line each, for numbers of one or two characters."""
    text = ""
    for n in numbers:
        assert 0 <= n < ALPHABET**width, n
        if width == 2:
            text += chr(n // ALPHABET + 35)
        text += chr(n % ALPHABET + 35)
    lines, line = [], ""
    for char in text:
        # No two question marks in a row: they would begin a trigraph for older compilers.
        line += "\\\\" if char == "\\" else "\\?" if char == "?" and line.endswith("?") else char
        if len(line) >= 113:
            lines.append(line)
            line = ""
    if line:
        lines.append(line)
    return "\n".join(f'    "{line}"' for line in lines)


def wrapped(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 120:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return "\n".join(lines + [line])


def stages(numbers):
    """The smallest three-stage table: (low bits, middle bits, top, middle, low)."""
    def shared(values, size):
        blocks, index = {}, []
        for i in range(0, len(values), size):
            index.append(blocks.setdefault(tuple(values[i:i + size]), len(blocks)))
        return index, [value for block in blocks for value in block]

    best = None
    for low_bits in (3, 4, 5, 6):
        index, low = shared(numbers, 1 << low_bits)
        for middle_bits in (3, 4, 5, 6):
            top, middle = shared(index, 1 << middle_bits)
            cost = 2 * len(top) + 2 * len(middle) + len(low)
            if best is None or cost < best[0]:
                best = (cost, low_bits, middle_bits, top, middle, low)
    return best[1:]


def table(name, records):
    kinds = sorted(set(records), key=lambda r: (records.index(r), r))
    number = {record: n for n, record in enumerate(kinds)}
    low_bits, middle_bits, top, middle, low = stages([number[r] for r in records])
    text = f"inline constexpr char {name}_top[] =\n{quoted(top, 2)};\n"
    text += f"inline constexpr char {name}_middle[] =\n{quoted(middle, 2)};\n"
    text += f"inline constexpr char {name}_low[] =\n{quoted(low, 1)};\n"
    text += f"inline constexpr int {name}_low_bits = {low_bits}, {name}_middle_bits = {middle_bits};\n"
    body = wrapped("{" + ", ".join(str(field) for field in record) + "}" for record in kinds)
    text += f"inline constexpr {name}_record {name}_records[] = {{\n{body}\n}};\n"
    return text


def mapping_tables(name, mapping):
    starts, pool = [], []
    for c in sorted(mapping):
        starts.append(len(pool))
        pool += mapping[c]
    starts.append(len(pool))
    hexed = lambda values: wrapped(f"0x{value:X}" for value in values)
    text = f"inline constexpr char32_t {name}_from[] = {{\n{hexed(sorted(mapping))}\n}};\n"
    text += f"inline constexpr std::uint16_t {name}_start[] = {{\n{wrapped(str(s) for s in starts)}\n}};\n"
    text += f"inline constexpr char32_t {name}_to[] = {{\n{hexed(pool)}\n}};\n"
    return text


def enumeration(name, values):
    words = {"CR": "cr", "LF": "lf", "ZWJ": "zwj", "WSegSpace": "space", "ALetter": "letter", "OLetter": "letter",
             "MidNumLet": "mid_number_or_letter", "MidLetter": "mid_letter", "MidNum": "mid_number",
             "ExtendNumLet": "connector", "SpacingMark": "spacing_mark", "ATerm": "full_stop", "STerm": "terminator",
             "SContinue": "continuation", "Sp": "space", "Sep": "separator", "L": "l", "V": "v", "T": "t", "LV": "lv"}
    body = wrapped(words.get(value, value.lower()) for value in values)
    return f"enum class {name} : std::uint8_t {{\n{body}\n}};\n"


def header(data):
    normal = Normalization(data)
    runs, several = case_folding(data)
    folding = {c for first, last, step, _ in runs for c in range(first, last + 1, step)} | {c for c, _ in several}
    parts = [
        f"""// Properties of the code points: Unicode {data.version}.
//
// Written by tools/unicode_tables.py out of the Unicode character database, which is copyright Unicode, Inc. and used
// under the Unicode licence (https://www.unicode.org/license.txt). Not to be edited. What the tables mean stands in
// unicode.hpp, the only header that includes this one.
#pragma once

#include <cstdint>
#include <string_view>

#include "../config.hpp"

// clang-format off
namespace QUARRY_NAMESPACE {{

/// The version of the Unicode character database behind words, normal forms and case folding.
inline constexpr std::string_view unicode_version = "{data.version}";

namespace detail {{

""",
        enumeration("word_break", WORD), enumeration("grapheme_break", GRAPHEME),
        enumeration("sentence_break", SENTENCE), """
struct cutting_record {
    std::uint8_t word, grapheme, sentence, flags;
};
struct normalizing_record {
    std::uint8_t combining, flags;
};

""",
        table("cutting", cutting_records(data)), "\n",
        table("normalizing", normal.records(folding)), "\n",
        mapping_tables("canonical", normal.canonical), "\n",
        mapping_tables("compatible", normal.compatible), "\n",
        "struct composition {\n    char32_t first, second, composed;\n};\n",
        "inline constexpr composition compositions[] = {\n",
        wrapped(f"{{0x{a:X},0x{b:X},0x{c:X}}}" for a, b, c in normal.composed), "\n};\n\n",
        "// Every step-th code point from first to last folds to itself plus `by`.\n",
        "struct folding_run {\n    char32_t first, last;\n    std::int32_t step, by;\n};\n",
        "inline constexpr folding_run folding_runs[] = {\n",
        wrapped(f"{{0x{a:X},0x{b:X},{step},{by}}}" for a, b, step, by in runs), "\n};\n\n",
        "struct folding {\n    char32_t from, to[3];\n};\n",
        "inline constexpr folding foldings[] = {\n",
        wrapped("{0x%X,{%s}}" % (c, ",".join(f"0x{d:X}" for d in to)) for c, to in several), "\n};\n\n",
        "}  // namespace detail\n}  // namespace QUARRY_NAMESPACE\n// clang-format on\n",
    ]
    return "".join(parts)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Writes the Unicode tables of Quarry.")
    parser.add_argument("--ucd", default="/usr/share/unicode", help="folder of the Unicode character database")
    parser.add_argument("--out", default=root / "include/quarry/text/unicode_tables.hpp", help="the header to write")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if the header would change")
    options = parser.parse_args()
    text = header(Database(options.ucd))
    out = pathlib.Path(options.out)
    if options.check:
        if out.read_text(encoding="utf-8") != text:
            sys.exit(f"{out} is not what {options.ucd} gives")
        return
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
