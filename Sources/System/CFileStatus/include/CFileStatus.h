#pragma once

#include <stdbool.h>
#include <stdint.h>

// What the kernel reports about a file. Swift sees the members of `struct stat` through whichever module of the
// toolchain includes <sys/stat.h> first. So a file that compiles in one build may not compile in the next.
struct file_status {
    uint32_t owner;
    // The lower nine bits of the mode: read, write and execute for the owner, the group and others.
    uint32_t permissions;
    bool is_regular;
    bool is_folder;
    int64_t size;
};

// Each returns false, with the reason in errno, when the file's status cannot be read.
bool file_status_of_descriptor(int descriptor, struct file_status *status);
bool file_status_of_path(const char *path, bool follows_links, struct file_status *status);

// Copies bytes from one file to another inside the kernel, at most `count`, from `*offset` on, which moves on. The target is
// written at its own position. Returns how many were copied, 0 at the end of the source, and -1 with the reason in errno.
// File systems that cannot do it are copied by way of the page cache. Swift does not see the C library's function, which
// needs a feature macro.
int64_t file_copy_bytes(int from, int64_t *offset, int to, uint64_t count);
