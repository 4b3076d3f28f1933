// Light declarations: what a header of yours needs to mention Quarry's types without including them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config.hpp"

namespace QUARRY_NAMESPACE {

enum class unit_id : std::uint32_t;
enum class key_id : std::uint32_t;
enum class unit_kind : std::uint8_t;
enum class key_kind : std::uint8_t;
enum class key_part : std::uint8_t;
enum class field_type : std::uint8_t;

class error;
class field_value;
class metadata;
class schema;
class filter;
class scope;
class unit_set;
class selection;
class source_ref;
class unit_ref;
class corpus;
class query;
class request;
class any_retriever;
struct article;
struct trace;

}  // namespace QUARRY_NAMESPACE
