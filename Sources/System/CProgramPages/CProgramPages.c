#define _GNU_SOURCE
#include "CProgramPages.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// Whether the dynamic linker has changed the code of an object when it loaded it. Such code is not the file's any more.
static bool has_relocated_code(const struct dl_phdr_info *object) {
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(uintptr_t)(object->dlpi_addr + part->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return true;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
        }
    }
    return false;
}

static int release_object(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (has_relocated_code(object)) return 0;
    uintptr_t offset_in_page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        // Parts that may be written have pages that are in no file. PT_GNU_RELRO lies in such a part: the dynamic
        // linker writes there before it protects the pages.
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0) continue;
        uintptr_t first = object->dlpi_addr + part->p_vaddr;
        // Only whole pages: the rest of the first and of the last one may belong to another part.
        uintptr_t start = (first + offset_in_page) & ~offset_in_page;
        uintptr_t end = (first + part->p_filesz) & ~offset_in_page;
        // Nothing depends on the outcome. Pages that are locked stay, for example.
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void program_pages_release(void) { dl_iterate_phdr(release_object, NULL); }
