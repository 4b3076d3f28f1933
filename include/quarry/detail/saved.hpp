// Saved, merger: the doors through which store/ and live/ see the insides of what they write, read and merge.
//
// A class that can be saved names `detail::saved<itself>` its friend, one that can be merged `detail::merger<itself>`.
// store/ and live/ specialise them. Nobody else does.
#pragma once

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class T>
struct saved;

template <class T>
struct merger;

}  // namespace QUARRY_NAMESPACE::detail
