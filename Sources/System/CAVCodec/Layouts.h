#pragma once

#include "Library.h"

#include <stddef.h>

// Where the fields of libavcodec's structures are. Their offsets depend on its major version, and which one is installed
// depends on the system: 59 on Debian 12, 60 on Ubuntu 24.04, 61 on Debian 13. Within a major version they never change.
//
// The offsets of 59, 61 and 63 come from the headers of these versions. Those of the context in 60 and 62 come from
// the libraries' own tables of options (`AVOption.offset`) and from the only place that holds
// `avcodec_default_get_buffer2`; their frames are as in 59 and 63. Tests/Peers/test_codec_libraries.py decodes and encodes
// with each but 63. They hold where pointers have 64 bits, which is so on every architecture that is supported.
//
// X(name, structure, field, type, offset in 59, 60, 61, 62, 63)
#define GATEHOUSE_AV_FIELDS(X)                                                                  \
    X(codec_type, AVCodecContext, codec_type, enum AVMediaType, 12, 12, 12, 12, 12)             \
    X(opaque, AVCodecContext, opaque, void *, 48, 48, 48, 48, 48)                               \
    X(bit_rate, AVCodecContext, bit_rate, int64_t, 56, 56, 56, 56, 56)                          \
    X(flags, AVCodecContext, flags, int, 76, 76, 64, 64, 64)                                    \
    X(global_quality, AVCodecContext, global_quality, int, 68, 68, 420, 420, 420)               \
    X(extradata, AVCodecContext, extradata, uint8_t *, 88, 88, 72, 72, 72)                      \
    X(extradata_size, AVCodecContext, extradata_size, int, 96, 96, 80, 80, 80)                  \
    X(time_base, AVCodecContext, time_base, AVRational, 100, 100, 84, 84, 84)                   \
    X(width, AVCodecContext, width, int, 116, 116, 116, 112, 112)                               \
    X(height, AVCodecContext, height, int, 120, 120, 120, 116, 116)                             \
    X(pix_fmt, AVCodecContext, pix_fmt, enum AVPixelFormat, 136, 136, 140, 136, 136)            \
    X(color_range, AVCodecContext, color_range, enum AVColorRange, 336, 336, 160, 156, 156)     \
    X(sample_rate, AVCodecContext, sample_rate, int, 352, 352, 344, 344, 344)                   \
    X(sample_fmt, AVCodecContext, sample_fmt, enum AVSampleFormat, 360, 360, 348, 348, 348)     \
    X(ch_layout, AVCodecContext, ch_layout, AVChannelLayout, 920, 912, 352, 352, 352)           \
    X(frame_size, AVCodecContext, frame_size, int, 364, 364, 376, 376, 376)                     \
    X(get_buffer2, AVCodecContext, get_buffer2, gatehouse_av_get_buffer, 408, 408, 408, 408, 408) \
    X(thread_count, AVCodecContext, thread_count, int, 636, 636, 656, 656, 656)                 \
    X(pkt_timebase, AVCodecContext, pkt_timebase, AVRational, 724, 716, 92, 92, 92)             \
    X(bits_per_coded_sample, AVCodecContext, bits_per_coded_sample, int, 624, 624, 648, 648, 648) \
    X(max_pixels, AVCodecContext, max_pixels, int64_t, 864, 856, 792, 792, 792)                 \
    X(max_samples, AVCodecContext, max_samples, int64_t, 896, 888, 808, 808, 808)               \
    X(frame_quality, AVFrame, quality, int, 168, 168, 160, 160, 160)                            \
    X(frame_sample_rate, AVFrame, sample_rate, int, 208, 208, 192, 180, 180)                    \
    X(frame_buf, AVFrame, buf, AVBufferRef *, 224, 224, 200, 184, 184)                          \
    X(frame_flags, AVFrame, flags, int, 316, 316, 292, 276, 276)                                \
    X(frame_color_range, AVFrame, color_range, enum AVColorRange, 320, 320, 296, 280, 280)      \
    X(frame_decode_error_flags, AVFrame, decode_error_flags, int, 376, 376, 344, 320, 320)      \
    X(frame_ch_layout, AVFrame, ch_layout, AVChannelLayout, 448, 448, 408, 384, 384)

// These are at the same place in all of them, so the code uses the fields themselves: of AVFrame everything up to `format`,
// and `pts`; AVPacket up to `size`; AVCodec up to `type`; AVBufferRef, AVChannelLayout, AVRational, and
// AVPixFmtDescriptor with its components.

typedef int (*gatehouse_av_get_buffer)(AVCodecContext *, AVFrame *, int);

typedef struct {
    /// The major versions of the two libraries, which go together.
    int avcodec;
    int avutil;
#define GATEHOUSE_AV_OFFSET(name, ...) uint16_t name;
    GATEHOUSE_AV_FIELDS(GATEHOUSE_AV_OFFSET)
#undef GATEHOUSE_AV_OFFSET
} gatehouse_av_layout;

/// The known layouts, the newest first.
#define GATEHOUSE_AV_LAYOUT_COUNT 5
extern const gatehouse_av_layout gatehouse_av_layouts[GATEHOUSE_AV_LAYOUT_COUNT];

/// That of the library that was loaded. Set by gatehouse_av_load and never changed again.
extern const gatehouse_av_layout *gatehouse_av_loaded;

// A function for each field, which gives a pointer to it.
#define GATEHOUSE_AV_ACCESS(name, structure, field, type, ...)              \
    static inline type *gatehouse_av_##name(const structure *of) {          \
        return (type *)((char *)of + gatehouse_av_loaded->name);            \
    }
GATEHOUSE_AV_FIELDS(GATEHOUSE_AV_ACCESS)
#undef GATEHOUSE_AV_ACCESS
