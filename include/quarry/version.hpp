// The version of Quarry: the one place it is written. CMake reads it, the inline namespace is named after it.
//
// Releases 0.x are compatible within the same minor number.
#pragma once

#define QUARRY_VERSION_MAJOR 0
#define QUARRY_VERSION_MINOR 1
#define QUARRY_VERSION_PATCH 0
