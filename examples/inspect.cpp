// What a saved base or library holds, without loading it: the sections with their sizes, and what it was made with.
//
//     inspect kb.quarry            reads the table and one small section
//     inspect kb.quarry --verify   reads everything and compares the checksums
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <string>

#include "quarry/store/container.hpp"
#include "quarry/store/files.hpp"
#include "quarry/store/fingerprints.hpp"

int main(int argc, char* argv[]) {
    if (argc < 2 || argc > 3 || (argc == 3 && std::strcmp(argv[2], "--verify") != 0)) {
        std::cerr << "usage: inspect FILE [--verify]\n";
        return 2;
    }
    const std::string path = argv[1];
    try {
        quarry::system_files files;
        const auto file = files.read(path);
        const auto sections = quarry::inspect(*file);
        std::cout << path << ": " << file->size() << " bytes, format version " << quarry::container_version << '\n';
        for (const auto& s : sections) {
            std::cout << std::setw(14) << s.length << "  " << s.name << '\n';
            if (s.name != "made with" || s.length > 1 << 20) continue;
            std::string bytes(static_cast<std::size_t>(s.length), '\0');
            file->read(s.offset, bytes);
            for (const auto& [name, value] : quarry::detail::read_fingerprints({bytes, s.name}))
                std::cout << std::string(18, ' ') << name << ": " << value << '\n';
        }
        if (argc == 3) {
            const quarry::detail::file_bytes all(files, path);
            const quarry::container verified(all);
            std::cout << "every checksum is right\n";
        }
    } catch (const quarry::error& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
