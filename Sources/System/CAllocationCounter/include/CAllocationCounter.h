// Counts the heap allocations of a thread while it asks for it. Linking this target puts its allocation functions in
// front of the C library's, to which they pass every call on; while nobody counts, that costs a test of one variable.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// False in a build with a sanitizer, which has allocation functions of its own: nothing is counted then.
bool allocation_counter_works(void);

// Starts counting the calling thread's allocations at zero.
void allocation_counter_start(void);

// Ends counting, and returns how many allocations there were. Moving a block by realloc counts as one.
uint64_t allocation_counter_stop(void);

// How many bytes of the process's heap are in use, over all threads.
size_t allocation_counter_heap_in_use(void);

#ifdef __cplusplus
}
#endif
