#define _GNU_SOURCE
#include "CAllocationCounter.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

static _Thread_local bool counting;
static _Thread_local uint64_t allocations;

void allocation_counter_start(void) {
    allocations = 0;
    counting = true;
}

uint64_t allocation_counter_stop(void) {
    counting = false;
    return allocations;
}

size_t allocation_counter_heap_in_use(void) {
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
}

#if defined(__GLIBC__) && !defined(SANITIZED)

// The C library's own functions, under the names that remain when a program defines the usual ones.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

bool allocation_counter_works(void) { return true; }

void *malloc(size_t size) {
    if (__builtin_expect(counting, 0)) allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    if (__builtin_expect(counting, 0)) allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    if (__builtin_expect(counting, 0)) allocations++;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (__builtin_expect(counting, 0)) allocations++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    if (__builtin_expect(counting, 0)) allocations++;
    void *made = __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *block = made;
    return 0;
}

#else

bool allocation_counter_works(void) { return false; }

#endif
