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
        const auto opened = files.read(path);
        quarry::container file(*opened);
        std::cout << path << ": " << opened->size() << " bytes, format version " << quarry::container_version << '\n';
        for (const auto& s : file.sections()) {
            std::cout << std::setw(14) << s.length << "  " << s.name << '\n';
            if (s.name != "made with" || s.length > 1 << 20) continue;
            for (const auto& [name, value] : quarry::detail::read_fingerprints(file.read(s.name)))
                std::cout << std::string(18, ' ') << name << ": " << value << '\n';
        }
        if (argc == 3) {
            file.verify();
            std::cout << "every checksum is right\n";
        }
    } catch (const quarry::error& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
