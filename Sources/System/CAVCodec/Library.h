#pragma once

#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>

// Each function that the project uses, under its own name, as a field of `gatehouse_av`.
#define GATEHOUSE_AVCODEC_FUNCTIONS(X) \
    X(avcodec_version) X(avcodec_find_decoder_by_name) X(avcodec_find_encoder_by_name) X(avcodec_alloc_context3) \
    X(avcodec_free_context) X(avcodec_open2) X(avcodec_send_packet) X(avcodec_receive_frame) X(avcodec_send_frame) \
    X(avcodec_receive_packet) X(avcodec_flush_buffers) X(avcodec_default_get_buffer2) X(av_packet_alloc) \
    X(av_packet_free) X(av_packet_unref) X(av_new_packet)
#define GATEHOUSE_AVUTIL_FUNCTIONS(X) \
    X(avutil_version) X(av_frame_alloc) X(av_frame_free) X(av_frame_unref) X(av_frame_get_buffer) \
    X(av_frame_make_writable) X(av_buffer_create) X(av_buffer_unref) X(av_mallocz) X(av_free) X(av_strerror) \
    X(av_log_set_level) X(av_channel_layout_default) X(av_pix_fmt_desc_get) X(av_image_get_buffer_size)

typedef struct {
#define GATEHOUSE_FIELD(name) __typeof__(name) *name;
    GATEHOUSE_AVCODEC_FUNCTIONS(GATEHOUSE_FIELD)
    GATEHOUSE_AVUTIL_FUNCTIONS(GATEHOUSE_FIELD)
#undef GATEHOUSE_FIELD
} gatehouse_av_functions;

/// Filled by gatehouse_av_load and never written again.
extern gatehouse_av_functions gatehouse_av;
