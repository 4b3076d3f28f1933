// Memory that runs out when a test says so.
//
// Replaces the global operator new, so it may be included in one file of a program only. Nothing fails outside of
// `fails_at`, and only the thread that calls it is affected.
#pragma once

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

}  // namespace failing_new

// NOLINTBEGIN: replacement functions are not inline and not in a namespace. All of them, since a sanitizer's own would
// notice memory that one set gave and another took. Not inlined, or g++ sees free() meet new and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (failing_new::left != failing_new::never && failing_new::left-- == 0) {
        failing_new::left = failing_new::never;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (failing_new::left != failing_new::never && failing_new::left-- == 0) {
        failing_new::left = failing_new::never;
        throw std::bad_alloc();
    }
    const auto to = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(to, (size + to) / to * to)) return memory;
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
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
// NOLINTEND
