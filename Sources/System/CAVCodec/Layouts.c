#include "Layouts.h"

_Static_assert(sizeof(void *) == 8, "the offsets are those of architectures with pointers of 64 bits");

#define IN_59(name, structure, field, type, in59, in60, in61, in62, in63) .name = in59,
#define IN_60(name, structure, field, type, in59, in60, in61, in62, in63) .name = in60,
#define IN_61(name, structure, field, type, in59, in60, in61, in62, in63) .name = in61,
#define IN_62(name, structure, field, type, in59, in60, in61, in62, in63) .name = in62,
#define IN_63(name, structure, field, type, in59, in60, in61, in62, in63) .name = in63,

const gatehouse_av_layout gatehouse_av_layouts[GATEHOUSE_AV_LAYOUT_COUNT] = {
    {.avcodec = 63, .avutil = 61, GATEHOUSE_AV_FIELDS(IN_63)},
    {.avcodec = 62, .avutil = 60, GATEHOUSE_AV_FIELDS(IN_62)},
    {.avcodec = 61, .avutil = 59, GATEHOUSE_AV_FIELDS(IN_61)},
    {.avcodec = 60, .avutil = 58, GATEHOUSE_AV_FIELDS(IN_60)},
    {.avcodec = 59, .avutil = 57, GATEHOUSE_AV_FIELDS(IN_59)},
};

const gatehouse_av_layout *gatehouse_av_loaded = &gatehouse_av_layouts[GATEHOUSE_AV_LAYOUT_COUNT - 1];

// The headers of this machine have to agree with their column.
#if LIBAVCODEC_VERSION_MAJOR == 59
#define COLUMN(in59, in60, in61, in62, in63) in59
#elif LIBAVCODEC_VERSION_MAJOR == 60
#define COLUMN(in59, in60, in61, in62, in63) in60
#elif LIBAVCODEC_VERSION_MAJOR == 61
#define COLUMN(in59, in60, in61, in62, in63) in61
#elif LIBAVCODEC_VERSION_MAJOR == 62
#define COLUMN(in59, in60, in61, in62, in63) in62
#elif LIBAVCODEC_VERSION_MAJOR == 63
#define COLUMN(in59, in60, in61, in62, in63) in63
#endif

#ifdef COLUMN
#define CHECK(name, structure, field, type, in59, in60, in61, in62, in63)   \
    _Static_assert(                                                         \
        offsetof(structure, field) == COLUMN(in59, in60, in61, in62, in63), \
        #structure " has " #field " where the table says");
GATEHOUSE_AV_FIELDS(CHECK)
#endif

// What has the same place in all versions.
_Static_assert(offsetof(AVFrame, format) == 116 && offsetof(AVFrame, pts) == 136, "AVFrame begins as it always did");
_Static_assert(offsetof(AVPacket, pts) == 8 && offsetof(AVPacket, size) == 32, "AVPacket begins as it always did");
_Static_assert(offsetof(AVCodec, type) == 16, "AVCodec begins as it always did");
_Static_assert(offsetof(AVChannelLayout, nb_channels) == 4, "AVChannelLayout begins as it always did");
_Static_assert(offsetof(AVPixFmtDescriptor, comp) == 24, "AVPixFmtDescriptor begins as it always did");
