#include "Library.h"
#include "include/CAVCodec.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

gatehouse_av_functions gatehouse_av;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[256];

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define AVCODEC_FILE "libavcodec.so." NUMBER(LIBAVCODEC_VERSION_MAJOR)
#define AVUTIL_FILE "libavutil.so." NUMBER(LIBAVUTIL_VERSION_MAJOR)
#define INSTALL "install the package libavcodec" NUMBER(LIBAVCODEC_VERSION_MAJOR)

static void *resolve(void *library, const char *file, const char *name) {
    void *function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL && problem[0] == 0) {
        snprintf(problem, sizeof problem, "%s has no function %s: " INSTALL " again", file, name);
    }
    return function;
}

static void load(void) {
    // Neither library is ever closed: what they registered with the process must stay.
    void *avcodec = dlopen(AVCODEC_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (avcodec == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof problem, INSTALL " (%s)", reason == NULL ? "no reason given" : reason);
        return;
    }
    void *avutil = dlopen(AVUTIL_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (avutil == NULL) {
        snprintf(problem, sizeof problem, "install the package libavutil" NUMBER(LIBAVUTIL_VERSION_MAJOR));
        return;
    }
#define GATEHOUSE_RESOLVE_AVCODEC(name) \
    gatehouse_av.name = (__typeof__(name) *)resolve(avcodec, AVCODEC_FILE, #name);
#define GATEHOUSE_RESOLVE_AVUTIL(name) gatehouse_av.name = (__typeof__(name) *)resolve(avutil, AVUTIL_FILE, #name);
    GATEHOUSE_AVCODEC_FUNCTIONS(GATEHOUSE_RESOLVE_AVCODEC)
    GATEHOUSE_AVUTIL_FUNCTIONS(GATEHOUSE_RESOLVE_AVUTIL)
    if (problem[0] != 0) return;
    // This code reads fields of its structures, and their offsets depend on the major version.
    if (gatehouse_av.avcodec_version() >> 16 != LIBAVCODEC_VERSION_MAJOR
        || gatehouse_av.avutil_version() >> 16 != LIBAVUTIL_VERSION_MAJOR) {
        snprintf(problem, sizeof problem, AVCODEC_FILE " and " AVUTIL_FILE " have unexpected versions: " INSTALL);
        return;
    }
    // The code that decodes reports a camera's faults. They do not go to standard error.
    gatehouse_av.av_log_set_level(AV_LOG_QUIET);
}

const char *gatehouse_av_load(void) {
    pthread_once(&once, load);
    return problem[0] == 0 ? NULL : problem;
}

void gatehouse_av_describe(int code, char *text, size_t size) {
    if (size == 0) return;
    text[0] = 0;
    if (gatehouse_av_load() == NULL) gatehouse_av.av_strerror(code, text, size);
}
