#pragma once

#include <stddef.h>

// One file that the gateway serves, as it stood in the source tree when the program was built.
struct web_file {
    // Where it is served, for example "/assets/app.js".
    const char *path;
    const char *media_type;
    const char *bytes;
    size_t byte_count;
};

// The files of the web page, one after the other.
const struct web_file *web_page_files(size_t *count);

// The OpenAPI description of the HTTP API, in YAML.
struct web_file openapi_document(void);
