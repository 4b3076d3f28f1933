// Files of any bytes, and sections of any bytes inside files whose checksums are right: what is accepted is what would
// be written, and can be used.
#include <algorithm>
#include <string>

#include "../support/memory_files.hpp"
#include "fuzz.hpp"
#include "quarry/core/error.hpp"
#include "quarry/store/container.hpp"
#include "quarry/store/fingerprints.hpp"
#include "quarry/store/saved_corpus.hpp"
#include "quarry/store/saved_indexes.hpp"

using namespace quarry;
using fuzz::require;

namespace {

bool among_hundred(unit_id unit) { return index_of(unit) < 100; }

template <class T>
void written_again(const T& value, std::string_view bytes) {
    std::string again;
    detail::saved<T>::write(value, detail::byte_writer(again));
    require(again == bytes, "what is accepted is what would be written");
}

void as_container(std::string_view bytes) {
    bytes_file stored(bytes);
    container file(stored);
    file.verify();
    std::string again;
    container_writer out([&](std::span<const char> some) { again.append(some.data(), some.size()); });
    for (const section_info& section : file.sections()) {
        out.section(section.name);
        out.append(bytes.data() + section.offset, static_cast<std::size_t>(section.length));
    }
    out.finish();
    require(again == bytes, "a file that is accepted is what would be written");
}

void as_corpus(std::string_view bytes) {
    const corpus c = detail::saved<corpus>::read({bytes, "corpus"});
    for (std::size_t i = 0; i < c.size(); ++i) {
        require(c.find(c.id(unit_at(i))) == unit_at(i), "a unit is found by its id");
        c.text(unit_at(i));
        for (const field& f : c.fields()) c.value(unit_at(i), f.name);
    }
    c.select({.include_generated = true});
    written_again(c, bytes);
}

void as_words(std::string_view bytes) {
    const bm25_index index = detail::saved<bm25_index>::read({bytes, "words"}, plain(), among_hundred);
    const std::string phrase[] = {"new password"};
    index.search("password of the router", 5);
    index.bounds({"password"});
    if (index.options().positions) index.search({"password", {}, {}, phrase}, 5);
    written_again(index, bytes);
}

// The rows stand behind what they are of; the first byte says how long that is.
void as_rows(std::string_view bytes) {
    if (bytes.empty()) return;
    const std::size_t length = (std::min)(bytes.size() - 1, static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])));
    const std::string_view head = bytes.substr(1, length), matrix = bytes.substr(1 + length);
    const flat_index index =
        detail::saved<flat_index>::read({head, "rows"}, rest_of_bytes{matrix}, 3, among_hundred);
    const float probe[] = {1.0f, 2.0f, 3.0f};
    index.search(probe, 5);
    written_again(index, head);
    std::string again;
    detail::saved<flat_index>::write_matrix(index, detail::byte_writer(again));
    require(again == matrix, "rows that are accepted are what would be written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    try {
        switch (data[0] % 6) {
            case 0:
                as_container(bytes);
                break;
            case 1:
                as_corpus(bytes);
                break;
            case 2:
                as_words(bytes);
                break;
            case 3:
                as_rows(bytes);
                break;
            case 4:
                written_again(detail::saved<key_table>::read({bytes, "keys"}, among_hundred), bytes);
                break;
            default: {
                std::string again;
                detail::write_fingerprints(detail::read_fingerprints({bytes, "made with"}), detail::byte_writer(again));
                require(again == bytes, "fingerprints that are accepted are what would be written");
            }
        }
    } catch (const error&) {
        // Refused: with an error of ours, and no other.
    }
    return 0;
}
