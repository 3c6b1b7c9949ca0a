#pragma once

#include <stdbool.h>
#include <stdint.h>

// What the kernel tells of a file. Swift sees the members of `struct stat` through whichever module of the toolchain
// happens to include <sys/stat.h> first, so that a file that compiles in one build does not in the next.
struct file_status {
    uint32_t owner;
    // The lower nine bits of the mode: read, write and execute for the owner, the group and others.
    uint32_t permissions;
    bool is_regular;
    bool is_folder;
    int64_t size;
};

// Each returns false, with the reason in errno, when the file cannot be looked at.
bool file_status_of_descriptor(int descriptor, struct file_status *status);
bool file_status_of_path(const char *path, bool follows_links, struct file_status *status);
