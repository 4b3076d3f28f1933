// Memory that runs out when a test says so, and is counted.
//
// Replaces the global operator new, so it may be included in one file of a program only. Nothing fails outside of
// `fails_at`, and only the thread that calls it is affected.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace failing_new {

inline constexpr std::size_t never = static_cast<std::size_t>(-1);
inline thread_local std::size_t left = never;  // allocations until one fails

/// Runs `f` and lets its allocation number `n`, counted from 0, fail. Says whether that one was reached.
template <class F>
bool fails_at(std::size_t n, F f) {
    left = n;
    try {
        f();
    } catch (const std::bad_alloc&) {
        left = never;
        return true;
    } catch (...) {
        left = never;
        throw;
    }
    left = never;
    return false;
}

// Bytes that this thread got less those that it gave back, which may be another's; and the most of them at a time.
inline thread_local std::ptrdiff_t held = 0, most = 0;

/// How many bytes more than before `f` holds at a time.
template <class F>
std::size_t most_held_by(F f) {
    const std::ptrdiff_t before = most = held;
    f();
    return static_cast<std::size_t>(most - before);
}

inline void* counted(void* memory) noexcept {
    held += static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
    most = (std::max)(most, held);
    return memory;
}
inline void give_back(void* memory) noexcept {
    if (memory) held -= static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
    std::free(memory);
}

}  // namespace failing_new

// NOLINTBEGIN: replacement functions are not inline and not in a namespace. All of them, since a sanitizer's own would
// notice memory that one set gave and another took. Not inlined, or g++ sees free() meet new and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (failing_new::left != failing_new::never && failing_new::left-- == 0) {
        failing_new::left = failing_new::never;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return failing_new::counted(memory);
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (failing_new::left != failing_new::never && failing_new::left-- == 0) {
        failing_new::left = failing_new::never;
        throw std::bad_alloc();
    }
    const auto to = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(to, (size + to) / to * to)) return failing_new::counted(memory);
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size, std::nothrow);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { failing_new::give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { failing_new::give_back(memory); }
// NOLINTEND
