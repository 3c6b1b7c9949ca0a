#include "CWebFiles.h"

// The compiler puts the files into the program: they stay files of their own kind for editors, linters and tests, and the
// gateway stays one file to copy. `#embed` is C23. Clang takes it in older C too, and compiles this file again when one of
// the embedded files changes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char index_html[] = {
#embed "page/index.html"
};
static const char style_css[] = {
#embed "page/style.css"
};
static const char icon_svg[] = {
#embed "page/icon.svg"
};
static const char app_webmanifest[] = {
#embed "page/app.webmanifest"
};
static const char app_js[] = {
#embed "page/app.js"
};
static const char api_js[] = {
#embed "page/api.js"
};
static const char live_session_js[] = {
#embed "page/live-session.js"
};
static const char liveness_js[] = {
#embed "page/liveness.js"
};
static const char words_js[] = {
#embed "page/words.js"
};
static const char talk_js[] = {
#embed "page/talk.js"
};
static const char tile_js[] = {
#embed "page/tile.js"
};
static const char snapshots_js[] = {
#embed "page/snapshots.js"
};
static const char camera_form_js[] = {
#embed "page/camera-form.js"
};
static const char chime_js[] = {
#embed "page/chime.js"
};
static const char openapi_yaml[] = {
#embed "openapi.yaml"
};

static const struct web_file page_files[] = {
    {"/", "text/html; charset=utf-8", index_html, sizeof index_html},
    {"/assets/style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"/assets/icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
    {"/assets/app.webmanifest", "application/manifest+json", app_webmanifest, sizeof app_webmanifest},
    {"/assets/app.js", "text/javascript; charset=utf-8", app_js, sizeof app_js},
    {"/assets/api.js", "text/javascript; charset=utf-8", api_js, sizeof api_js},
    {"/assets/live-session.js", "text/javascript; charset=utf-8", live_session_js, sizeof live_session_js},
    {"/assets/liveness.js", "text/javascript; charset=utf-8", liveness_js, sizeof liveness_js},
    {"/assets/words.js", "text/javascript; charset=utf-8", words_js, sizeof words_js},
    {"/assets/talk.js", "text/javascript; charset=utf-8", talk_js, sizeof talk_js},
    {"/assets/tile.js", "text/javascript; charset=utf-8", tile_js, sizeof tile_js},
    {"/assets/snapshots.js", "text/javascript; charset=utf-8", snapshots_js, sizeof snapshots_js},
    {"/assets/camera-form.js", "text/javascript; charset=utf-8", camera_form_js, sizeof camera_form_js},
    {"/assets/chime.js", "text/javascript; charset=utf-8", chime_js, sizeof chime_js},
};

const struct web_file *web_page_files(size_t *count) {
    *count = sizeof page_files / sizeof page_files[0];
    return page_files;
}

struct web_file openapi_document(void) {
    return (struct web_file){"/v1/openapi.json", "application/yaml", openapi_yaml, sizeof openapi_yaml};
}
