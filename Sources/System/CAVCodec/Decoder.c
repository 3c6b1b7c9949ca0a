#include "Layouts.h"
#include "include/CAVCodec.h"

#include <string.h>

_Static_assert(AV_NUM_DATA_POINTERS == 8, "gatehouse_av_frame has as many planes");

struct gatehouse_av_decoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
    /// The bytes of pictures that this decoder or its frame still holds.
    int64_t held_bytes;
    int64_t maximum_bytes;
};

/// A picture's memory. It counts towards its decoder's bound until the last reference is gone.
typedef struct {
    gatehouse_av_decoder *decoder;
    AVBufferRef *memory;
    int64_t size;
} counted_memory;

static void release_counted(void *opaque, uint8_t *data) {
    (void)data;
    counted_memory *counted = opaque;
    counted->decoder->held_bytes -= counted->size;
    gatehouse_av.av_buffer_unref(&counted->memory);
    gatehouse_av.av_free(counted);
}

// A stream chooses its size and how many pictures it refers to, and so how much memory it needs. Sixteen pictures of
// the largest size would be half a gigabyte for one camera.
static int get_counted_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    gatehouse_av_decoder *decoder = *gatehouse_av_opaque(context);
    if (*gatehouse_av_codec_type(context) != AVMEDIA_TYPE_VIDEO) {
        return gatehouse_av.avcodec_default_get_buffer2(context, frame, flags);
    }
    int size = gatehouse_av.av_image_get_buffer_size(frame->format, frame->width, frame->height, 64);
    if (size < 0) return size;
    if (decoder->held_bytes + size > decoder->maximum_bytes) return AVERROR(ENOMEM);
    int result = gatehouse_av.avcodec_default_get_buffer2(context, frame, flags);
    AVBufferRef **buffer = gatehouse_av_frame_buf(frame);
    if (result < 0 || *buffer == NULL) return result;
    counted_memory *counted = gatehouse_av.av_mallocz(sizeof *counted);
    AVBufferRef *wrapper =
        counted == NULL
            ? NULL
            : gatehouse_av.av_buffer_create((*buffer)->data, (*buffer)->size, release_counted, counted, 0);
    if (wrapper == NULL) {
        gatehouse_av.av_free(counted);
        gatehouse_av.av_frame_unref(frame);
        return AVERROR(ENOMEM);
    }
    *counted = (counted_memory){decoder, *buffer, size};
    decoder->held_bytes += size;
    *buffer = wrapper;
    return 0;
}

int gatehouse_av_decoder_create(const gatehouse_av_decoder_options *options, gatehouse_av_decoder **result) {
    *result = NULL;
    if (gatehouse_av_load() != NULL) return AVERROR_EXTERNAL;
    const AVCodec *codec = gatehouse_av.avcodec_find_decoder_by_name(options->name);
    if (codec == NULL) return AVERROR_DECODER_NOT_FOUND;
    gatehouse_av_decoder *decoder = gatehouse_av.av_mallocz(sizeof *decoder);
    if (decoder == NULL) return AVERROR(ENOMEM);
    decoder->maximum_bytes = options->maximum_bytes;
    decoder->context = gatehouse_av.avcodec_alloc_context3(codec);
    decoder->packet = gatehouse_av.av_packet_alloc();
    decoder->frame = gatehouse_av.av_frame_alloc();
    int code = AVERROR(ENOMEM);
    if (decoder->context == NULL || decoder->packet == NULL || decoder->frame == NULL) goto fail;
    AVCodecContext *context = decoder->context;
    *gatehouse_av_opaque(context) = decoder;
    *gatehouse_av_get_buffer2(context) = get_counted_buffer;
    // One camera must not use more than one core, and threads would delay frames.
    *gatehouse_av_thread_count(context) = 1;
    *gatehouse_av_max_pixels(context) = options->maximum_pixels;
    *gatehouse_av_max_samples(context) = 1 << 16;
    *gatehouse_av_pkt_timebase(context) = (AVRational){1, 90000};
    *gatehouse_av_bits_per_coded_sample(context) = options->bits_per_coded_sample;
    if (codec->type == AVMEDIA_TYPE_AUDIO) {
        *gatehouse_av_sample_rate(context) = options->sample_rate;
        gatehouse_av.av_channel_layout_default(gatehouse_av_ch_layout(context), options->channels > 0 ? options->channels : 1);
    }
    if (options->extradata_size > 0) {
        *gatehouse_av_extradata(context) =
            gatehouse_av.av_mallocz((size_t)options->extradata_size + AV_INPUT_BUFFER_PADDING_SIZE);
        if (*gatehouse_av_extradata(context) == NULL) goto fail;
        memcpy(*gatehouse_av_extradata(context), options->extradata, (size_t)options->extradata_size);
        *gatehouse_av_extradata_size(context) = options->extradata_size;
    }
    code = gatehouse_av.avcodec_open2(context, codec, NULL);
    if (code < 0) goto fail;
    *result = decoder;
    return 0;
fail:
    gatehouse_av_decoder_free(decoder);
    return code;
}

void gatehouse_av_decoder_free(gatehouse_av_decoder *decoder) {
    if (decoder == NULL) return;
    // The pictures of the frame and the context count down in `decoder`, which is freed last.
    gatehouse_av.av_frame_free(&decoder->frame);
    gatehouse_av.av_packet_free(&decoder->packet);
    gatehouse_av.avcodec_free_context(&decoder->context);
    gatehouse_av.av_free(decoder);
}

int gatehouse_av_decoder_send(gatehouse_av_decoder *decoder, const uint8_t *bytes, size_t size, int64_t timestamp) {
    gatehouse_av.av_frame_unref(decoder->frame);
    if (size == 0) return gatehouse_av.avcodec_send_packet(decoder->context, NULL);
    if (size > 1 << 26) return AVERROR(EINVAL);
    int code = gatehouse_av.av_new_packet(decoder->packet, (int)size);
    if (code < 0) return code;
    memcpy(decoder->packet->data, bytes, size);
    decoder->packet->pts = timestamp;
    decoder->packet->dts = AV_NOPTS_VALUE;
    code = gatehouse_av.avcodec_send_packet(decoder->context, decoder->packet);
    gatehouse_av.av_packet_unref(decoder->packet);
    return code;
}

static void describe_samples(const AVFrame *from, gatehouse_av_frame *to) {
    to->sample_rate = *gatehouse_av_frame_sample_rate(from);
    to->channels = gatehouse_av_frame_ch_layout(from)->nb_channels;
    to->samples = from->nb_samples;
    switch (from->format) {
    case AV_SAMPLE_FMT_S16: to->sample_format = GATEHOUSE_AV_SAMPLES_INT16; break;
    case AV_SAMPLE_FMT_S16P: to->sample_format = GATEHOUSE_AV_SAMPLES_INT16; to->is_planar = 1; break;
    case AV_SAMPLE_FMT_FLT: to->sample_format = GATEHOUSE_AV_SAMPLES_FLOAT; break;
    case AV_SAMPLE_FMT_FLTP: to->sample_format = GATEHOUSE_AV_SAMPLES_FLOAT; to->is_planar = 1; break;
    default: to->sample_format = GATEHOUSE_AV_SAMPLES_OTHER; break;
    }
}

static void describe_picture(const AVFrame *from, gatehouse_av_frame *to) {
    to->width = from->width;
    to->height = from->height;
    to->is_damaged =
        *gatehouse_av_frame_decode_error_flags(from) != 0 || (*gatehouse_av_frame_flags(from) & AV_FRAME_FLAG_CORRUPT) != 0;
    const AVPixFmtDescriptor *format = gatehouse_av.av_pix_fmt_desc_get(from->format);
    if (format == NULL) return;
    const uint64_t other = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM
        | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_FLOAT;
    if (format->flags & other) return;
    int is_grey = format->nb_components == 1;
    if (!is_grey && !(format->flags & AV_PIX_FMT_FLAG_PLANAR)) return;
    int components = is_grey ? 1 : 3;
    for (int index = 0; index < components; index++) {
        const AVComponentDescriptor *component = &format->comp[index];
        if (component->plane != index || component->shift != 0 || component->offset != 0) return;
        if (component->depth != format->comp[0].depth || component->step != (component->depth > 8 ? 2 : 1)) return;
    }
    to->picture_planes = components;
    to->depth = format->comp[0].depth;
    to->chroma_shift_x = format->log2_chroma_w;
    to->chroma_shift_y = format->log2_chroma_h;
    to->is_full_range = *gatehouse_av_frame_color_range(from) == AVCOL_RANGE_JPEG || from->format == AV_PIX_FMT_YUVJ420P
        || from->format == AV_PIX_FMT_YUVJ422P || from->format == AV_PIX_FMT_YUVJ444P
        || from->format == AV_PIX_FMT_YUVJ440P || from->format == AV_PIX_FMT_YUVJ411P;
}

int gatehouse_av_decoder_receive(gatehouse_av_decoder *decoder, gatehouse_av_frame *frame) {
    memset(frame, 0, sizeof *frame);
    int code = gatehouse_av.avcodec_receive_frame(decoder->context, decoder->frame);
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return 0;
    if (code < 0) return code;
    // This array holds the first planes even where sound has more channels than `data` can hold.
    for (int index = 0; index < 8; index++) {
        frame->planes[index] = decoder->frame->data[index];
        frame->strides[index] = decoder->frame->linesize[index];
    }
    frame->timestamp = decoder->frame->pts;
    if (*gatehouse_av_codec_type(decoder->context) == AVMEDIA_TYPE_AUDIO) {
        describe_samples(decoder->frame, frame);
    } else {
        describe_picture(decoder->frame, frame);
    }
    return 1;
}

void gatehouse_av_decoder_flush(gatehouse_av_decoder *decoder) {
    gatehouse_av.av_frame_unref(decoder->frame);
    gatehouse_av.avcodec_flush_buffers(decoder->context);
}
