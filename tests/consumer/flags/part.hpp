// What each of two files, compiled with different flags, says of the kernels it sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct part_report {
    std::string level;
    const void* own_baseline;        // differs: its code depends on the file's flags
    const void* shared;              // equal: that of a level does not
    std::vector<std::uint32_t> bits;  // of scores, and the keys that were found
};

part_report plain_part();
part_report flagged_part();
