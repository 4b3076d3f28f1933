// Journals of any bytes: what is read is what would be appended, and nothing of it lies in a torn end.
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "quarry/core/error.hpp"
#include "quarry/store/journal.hpp"

using namespace quarry;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    // With an odd first byte the rest is the contents of one record, whose checksums are made right.
    std::string journal_bytes(bytes);
    if (data[0] % 2 == 1) {
        journal_bytes = detail::journal_opening();
        detail::append_record(journal_bytes, journal_bytes.size(), bytes);
    }
    try {
        std::string again = detail::journal_opening();
        std::vector<paid_embedding> rows;
        bool any_rows = false;
        const auto whole = read_journal(
            journal_bytes,
            [&](const paid_reply& r) { detail::append_record(again, again.size(), detail::contents_of(r)); },
            [&](paid_embedding e) { any_rows = true, rows.push_back(std::move(e)); });
        require(whole <= journal_bytes.size(), "whole records lie in the journal");
        if (whole == 0) return 0;
        if (any_rows && data[0] % 2 == 1) detail::append_record(again, again.size(), detail::contents_of(rows));
        if (!any_rows || data[0] % 2 == 1)
            require(again == std::string_view(journal_bytes).substr(0, static_cast<std::size_t>(whole)) || whole == 16,
                    "records that are read are what would be appended");
    } catch (const error&) {
        // Refused.
    }
    return 0;
}
