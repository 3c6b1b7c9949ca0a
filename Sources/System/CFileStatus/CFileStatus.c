#define _GNU_SOURCE
#include "CFileStatus.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void convert(const struct stat *from, struct file_status *to) {
    to->owner = from->st_uid;
    to->permissions = from->st_mode & 0777;
    to->is_regular = S_ISREG(from->st_mode);
    to->is_folder = S_ISDIR(from->st_mode);
    to->size = from->st_size;
}

bool file_status_of_descriptor(int descriptor, struct file_status *status) {
    struct stat found;
    if (fstat(descriptor, &found) != 0) return false;
    convert(&found, status);
    return true;
}

bool file_status_of_path(const char *path, bool follows_links, struct file_status *status) {
    struct stat found;
    if ((follows_links ? stat(path, &found) : lstat(path, &found)) != 0) return false;
    convert(&found, status);
    return true;
}

int64_t file_copy_bytes(int from, int64_t *offset, int to, uint64_t count) {
    // Less than two gigabytes at once, which is what the kernel does anyway.
    if (count > 1 << 30) count = 1 << 30;
    loff_t place = *offset;
    ssize_t copied = copy_file_range(from, &place, to, NULL, count, 0);
    if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EBADF)) {
        // Another file system, or the target is a pipe or a socket.
        off_t start = *offset;
        copied = sendfile(to, from, &start, count);
        place = start;
    }
    if (copied > 0) *offset = place;
    return copied;
}
