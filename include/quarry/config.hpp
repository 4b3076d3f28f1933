// The only header with macros that others use.
//
// QUARRY_NAMESPACE is what every header opens: `quarry`, with an inline namespace named after the version, so that two
// versions in one program are two sets of symbols and never one mixture.
#pragma once

#include "version.hpp"

#define QUARRY_DETAIL_PASTE(major, minor) v##major##_##minor
#define QUARRY_DETAIL_VERSION_NAME(major, minor) QUARRY_DETAIL_PASTE(major, minor)
#define QUARRY_NAMESPACE quarry::inline QUARRY_DETAIL_VERSION_NAME(QUARRY_VERSION_MAJOR, QUARRY_VERSION_MINOR)
