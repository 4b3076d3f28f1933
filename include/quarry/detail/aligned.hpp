// Memory for rows that are read from one end to the other: aligned to cache lines, on large pages where it is large, and
// not written before its owner writes it.
//
// The processor looks up one page in place of 512. Linux gives large pages only to those who ask.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "../config.hpp"

namespace QUARRY_NAMESPACE::detail {

template <class T>
struct aligned_allocator {
    using value_type = T;

    aligned_allocator() = default;
    template <class U>
    constexpr aligned_allocator(const aligned_allocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > (std::numeric_limits<std::size_t>::max)() / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        void* memory = ::operator new(bytes, alignment_of(count));
#if defined(__linux__)
        if (bytes >= large) ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: what it answers changes nothing
#endif
        return static_cast<T*>(memory);
    }
    /// A vector that grows leaves new numbers unwritten: who asks for room writes it once, and not twice.
    template <class U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }
    void deallocate(T* memory, std::size_t count) noexcept { ::operator delete(memory, alignment_of(count)); }

    friend bool operator==(const aligned_allocator&, const aligned_allocator&) { return true; }

   private:
    static constexpr std::size_t line = 64, page = std::size_t{1} << 21, large = 2 * page;
    static constexpr std::align_val_t alignment_of(std::size_t count) noexcept {
        return std::align_val_t{count * sizeof(T) >= large ? page : line};
    }
};

template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

}  // namespace QUARRY_NAMESPACE::detail
