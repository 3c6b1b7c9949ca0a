// Counts a thread's heap allocations on request. Linking this target puts its allocation functions in front of the C
// library's, and they pass every call on. While no thread counts, that costs a test of one variable.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// False in a build with a sanitizer, which has its own allocation functions. Nothing is counted then.
bool allocation_counter_works(void);

// Starts counting the calling thread's allocations at zero.
void allocation_counter_start(void);

// Ends counting, and returns the number of allocations. Moving a block by realloc counts as one.
uint64_t allocation_counter_stop(void);

// How many bytes of the process's heap are in use, over all threads.
size_t allocation_counter_heap_in_use(void);

#ifdef __cplusplus
}
#endif
