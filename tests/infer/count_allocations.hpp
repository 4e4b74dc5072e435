#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Counts every allocation of a test program, so that a recovery can be seen to make none. To be
// included by one source of a program: it replaces the global operators. All of them: a sanitizer
// takes memory of its own operator for a mistake in ours.

namespace pibinn::testing {

inline std::atomic<std::size_t> allocations = 0;

inline void* counted(std::size_t size, std::size_t alignment) noexcept {
    ++allocations;
    const std::size_t some = size == 0 ? 1 : size;
    return std::aligned_alloc(alignment, (some + alignment - 1) / alignment * alignment);
}

inline void* counted_or_throw(std::size_t size, std::size_t alignment) {
    if (void* p = counted(size, alignment)) return p;
    throw std::bad_alloc();
}

}  // namespace pibinn::testing

void* operator new(std::size_t size) { return pibinn::testing::counted_or_throw(size, 16); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return pibinn::testing::counted(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return pibinn::testing::counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
