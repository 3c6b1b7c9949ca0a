// What Debian's Swift libraries for ARM expect of the C and C++ libraries, and Debian 12 does not have. They are built on
// Debian unstable, with glibc 2.38 or later and libstdc++ 13 or later; Debian 12 has 2.36 and 12. It is compiled with the
// headers of Debian 12, so that the functions it calls are those of glibc 2.36.

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The C23 forms of these differ only in that they read binary numbers ("0b1") where the base is 0 or 2.
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

// strlcpy(3) and strlcat(3) of POSIX.1-2024.
size_t strlcpy(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(to, from, copied);
        to[copied] = '\0';
    }
    return length;
}

size_t strlcat(char *to, const char *from, size_t size) {
    size_t length = strnlen(to, size);
    return length + (length == size ? strlen(from) : strlcpy(to + length, from, size - length));
}

// With libstdc++ 13, the library itself initializes std::cout and the like, and every file that includes <iostream> names
// std::ios_base_library_init() so that an older library is not taken. The older one wants std::ios_base::Init::Init() to be
// called in its place, before anything else runs. It counts its calls, so a later library is not initialized twice.
void _ZSt21ios_base_library_initv(void) {}

void _ZNSt8ios_base4InitC1Ev(void *init);

__attribute__((constructor(101))) static void initialize_streams(void) {
    // An empty class, whose destructor would only flush the streams.
    static char init;
    _ZNSt8ios_base4InitC1Ev(&init);
}
