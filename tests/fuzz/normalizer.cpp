// Normal forms and folding of any bytes: stable, equal for equivalent texts, and every piece knows where it came from.
#include <string>

#include "fuzz.hpp"
#include "quarry/text/caseless.hpp"
#include "quarry/text/normalize.hpp"
#include "quarry/text/unicode.hpp"

using namespace quarry;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const std::string nfc = normalized(text, normal_form::nfc), nfkc = normalized(text, normal_form::nfkc);
    require(normalized(nfc, normal_form::nfc) == nfc, "NFC is stable");
    require(normalized(nfkc, normal_form::nfkc) == nfkc, "NFKC is stable");
    require(normalized(nfkc, normal_form::nfc) == nfkc, "NFKC is in NFC");
    require(normalized(nfc, normal_form::nfkc) == nfkc, "texts with one NFC have one NFKC");

    for (const normal_form form : {normal_form::nfc, normal_form::nfkc}) {
        std::size_t last = 0;
        std::string all;
        for_each_normal_piece(text, form, [&](std::string_view normal, std::size_t begin, std::size_t end) {
            require(begin == last && end > begin && end <= size, "pieces tile the text");
            require(normalized(text.substr(begin, end - begin), form) == normal, "a piece alone has the same normal form");
            last = end;
            all += normal;
        });
        require(last == size, "pieces tile the text to its end");
        const normalized_text mapped(text, form);
        require(mapped.text() == all, "the pieces together are the normal form");
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= all.size(); ++i) {
            const byte_span span = mapped.original({i, i});
            require(span.begin >= begin && span.end <= size, "places in the original go up");
            begin = span.begin;
        }
        require(mapped.original({0, all.size()}) == byte_span{0, size}, "the whole came from the whole");
    }

    const std::string folded = case_folded(text), form = caseless(text);
    require(case_folded(folded) == folded, "folding is idempotent");
    require(caseless(form) == form, "the caseless form of a caseless form is itself");
    require(caseless(nfc) == form && caseless(nfkc) == form, "equivalent texts have one caseless form");
    return 0;
}
