#pragma once
#include <vpx/vpx_encoder.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>

// Macros carry the version of libvpx's interface, and Swift does not import them. These functions replace the macros.

static inline vpx_codec_err_t gatehouse_vp8_encoder_init(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *settings) {
    return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), settings, 0);
}

static inline vpx_codec_err_t gatehouse_vp8_decoder_init(vpx_codec_ctx_t *context) {
    vpx_codec_dec_cfg_t settings = {.threads = 1, .w = 0, .h = 0};
    return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), &settings, 0);
}
