#include "CFileStatus.h"

#include <sys/stat.h>

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
