#include "Layouts.h"
#include "include/CAVCodec.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

gatehouse_av_functions gatehouse_av;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[320];

/// The package with libavcodec, for the system that /etc/os-release describes.
static const char *package_name(void) {
    static const struct {
        const char *line;
        const char *package;
    } systems[] = {
        {"VERSION_CODENAME=bookworm\n", "libavcodec59"},
        {"VERSION_CODENAME=noble\n", "libavcodec60"},
        {"VERSION_CODENAME=trixie\n", "libavcodec61"},
    };
    FILE *file = fopen("/etc/os-release", "re");
    const char *found = NULL;
    char line[256];
    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL) {
        for (size_t index = 0; index < sizeof systems / sizeof systems[0]; index++) {
            if (strcmp(line, systems[index].line) == 0) found = systems[index].package;
        }
    }
    if (file != NULL) fclose(file);
    return found;
}

static void describe_absence(void) {
    const char *package = package_name();
    if (package != NULL) {
        snprintf(problem, sizeof problem, "libavcodec is missing: install the package %s", package);
    } else {
        snprintf(
            problem, sizeof problem,
            "libavcodec is missing: install its version %d to %d (libavcodec59 on Debian 12, libavcodec60 on Ubuntu 24.04, "
            "libavcodec61 on Debian 13)",
            gatehouse_av_layouts[GATEHOUSE_AV_LAYOUT_COUNT - 1].avcodec, gatehouse_av_layouts[0].avcodec);
    }
}

static void *resolve(void *library, const char *name, int version) {
    void *function = dlsym(library, name);
    if (function == NULL && problem[0] == 0) {
        snprintf(problem, sizeof problem, "libavcodec %d has no function %s: install libavcodec again", version, name);
    }
    return function;
}

/// Opens one version. Returns 0 if it is not installed.
static int load_version(const gatehouse_av_layout *layout) {
    char file[32];
    // Neither library is ever closed: what they registered with the process must stay.
    snprintf(file, sizeof file, "libavcodec.so.%d", layout->avcodec);
    void *avcodec = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (avcodec == NULL) return 0;
    snprintf(file, sizeof file, "libavutil.so.%d", layout->avutil);
    void *avutil = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (avutil == NULL) return 0;
#define GATEHOUSE_RESOLVE_AVCODEC(name) \
    gatehouse_av.name = (__typeof__(name) *)resolve(avcodec, #name, layout->avcodec);
#define GATEHOUSE_RESOLVE_AVUTIL(name) gatehouse_av.name = (__typeof__(name) *)resolve(avutil, #name, layout->avcodec);
    GATEHOUSE_AVCODEC_FUNCTIONS(GATEHOUSE_RESOLVE_AVCODEC)
    GATEHOUSE_AVUTIL_FUNCTIONS(GATEHOUSE_RESOLVE_AVUTIL)
    if (problem[0] != 0) return 1;
    // This code reads fields of the libraries' structures, and their offsets depend on the major version.
    if ((int)(gatehouse_av.avcodec_version() >> 16) != layout->avcodec
        || (int)(gatehouse_av.avutil_version() >> 16) != layout->avutil) {
        snprintf(
            problem, sizeof problem, "libavcodec.so.%d is another version than its name says: install libavcodec again",
            layout->avcodec);
        return 1;
    }
    gatehouse_av_loaded = layout;
    // The code that decodes reports a camera's faults. They do not go to standard error.
    gatehouse_av.av_log_set_level(AV_LOG_QUIET);
    return 1;
}

static void load(void) {
    for (int index = 0; index < GATEHOUSE_AV_LAYOUT_COUNT; index++) {
        if (load_version(&gatehouse_av_layouts[index])) return;
    }
    describe_absence();
}

const char *gatehouse_av_load(void) {
    pthread_once(&once, load);
    return problem[0] == 0 ? NULL : problem;
}

int gatehouse_av_version(void) { return gatehouse_av_load() == NULL ? gatehouse_av_loaded->avcodec : 0; }

void gatehouse_av_describe(int code, char *text, size_t size) {
    if (size == 0) return;
    text[0] = 0;
    if (gatehouse_av_load() == NULL) gatehouse_av.av_strerror(code, text, size);
}
