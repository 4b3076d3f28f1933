// Saved: the door through which store/ and live/ see the insides of what they write, read and merge.
//
// A class that can be saved names `detail::saved<itself>` its friend; store/ specialises it. Nobody else does.
#pragma once

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class T>
struct saved;

}  // namespace QUARRY_NAMESPACE::detail
