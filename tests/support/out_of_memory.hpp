// Memory that runs out on demand, to see what a call leaves behind.
//
// It replaces the program's operator new, so one file of a program may include it.
#pragma once

#include <cstdlib>
#include <new>

/// How many allocations this thread may still make before they throw; -1: as many as it likes.
inline thread_local int allocations_left = -1;

namespace out_of_memory {

inline void* allocate(std::size_t bytes) noexcept {
    if (allocations_left == 0) return nullptr;
    if (allocations_left > 0) --allocations_left;
    return std::malloc(bytes == 0 ? 1 : bytes);
}
inline void* allocate_or_throw(std::size_t bytes) {
    void* memory = allocate(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}

/// Calls `f` allowing it 0, 1, 2, ... allocations until it gets through; calls `after` each time it did not.
/// Returns how often that was.
template <class F, class After>
int until_it_gets_through(F f, After after) {
    for (int allowed = 0;; ++allowed) {
        allocations_left = allowed;
        try {
            f();
            allocations_left = -1;
            return allowed;
        } catch (const std::bad_alloc&) {
            allocations_left = -1;
            after();
        }
    }
}

}  // namespace out_of_memory

// All forms, since a sanitizer that provides the others tells theirs from ours.
void* operator new(std::size_t bytes) { return out_of_memory::allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return out_of_memory::allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return out_of_memory::allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return out_of_memory::allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
