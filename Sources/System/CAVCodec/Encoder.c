#include "Layouts.h"
#include "include/CAVCodec.h"

#include <string.h>

struct gatehouse_av_encoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
    int64_t time;
};

static int set_up_samples(gatehouse_av_encoder *encoder, const AVCodec *codec, const gatehouse_av_encoder_options *options) {
    AVCodecContext *context = encoder->context;
    *gatehouse_av_sample_rate(context) = options->sample_rate;
    *gatehouse_av_time_base(context) = (AVRational){1, options->sample_rate};
    // The list of what an encoder takes is not where it was in every version. An encoder that takes neither fails to open.
    int is_float = strcmp(options->name, "aac") == 0;
    *gatehouse_av_sample_fmt(context) = is_float ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_S16;
    gatehouse_av.av_channel_layout_default(gatehouse_av_ch_layout(context), options->channels);
    int code = gatehouse_av.avcodec_open2(context, codec, NULL);
    if (code < 0) return code;
    // ADPCM works sample by sample. libavcodec sets a frame length for files, which would be half a second in a call.
    if (options->frame_size > 0) *gatehouse_av_frame_size(context) = options->frame_size;
    encoder->frame->nb_samples = *gatehouse_av_frame_size(context);
    encoder->frame->format = *gatehouse_av_sample_fmt(context);
    *gatehouse_av_frame_sample_rate(encoder->frame) = *gatehouse_av_sample_rate(context);
    gatehouse_av.av_channel_layout_default(gatehouse_av_frame_ch_layout(encoder->frame), options->channels);
    return gatehouse_av.av_frame_get_buffer(encoder->frame, 0);
}

static int set_up_picture(gatehouse_av_encoder *encoder, const AVCodec *codec, const gatehouse_av_encoder_options *options) {
    AVCodecContext *context = encoder->context;
    *gatehouse_av_width(context) = options->width;
    *gatehouse_av_height(context) = options->height;
    *gatehouse_av_time_base(context) = (AVRational){1, 25};
    *gatehouse_av_pix_fmt(context) = AV_PIX_FMT_YUVJ420P;
    *gatehouse_av_color_range(context) = AVCOL_RANGE_JPEG;
    *gatehouse_av_flags(context) |= AV_CODEC_FLAG_QSCALE;
    *gatehouse_av_global_quality(context) = options->quality * FF_QP2LAMBDA;
    int code = gatehouse_av.avcodec_open2(context, codec, NULL);
    if (code < 0) return code;
    encoder->frame->format = *gatehouse_av_pix_fmt(context);
    encoder->frame->width = options->width;
    encoder->frame->height = options->height;
    *gatehouse_av_frame_quality(encoder->frame) = *gatehouse_av_global_quality(context);
    *gatehouse_av_frame_color_range(encoder->frame) = AVCOL_RANGE_JPEG;
    return gatehouse_av.av_frame_get_buffer(encoder->frame, 0);
}

int gatehouse_av_encoder_create(const gatehouse_av_encoder_options *options, gatehouse_av_encoder **result) {
    *result = NULL;
    if (gatehouse_av_load() != NULL) return AVERROR_EXTERNAL;
    const AVCodec *codec = gatehouse_av.avcodec_find_encoder_by_name(options->name);
    if (codec == NULL) return AVERROR_ENCODER_NOT_FOUND;
    gatehouse_av_encoder *encoder = gatehouse_av.av_mallocz(sizeof *encoder);
    if (encoder == NULL) return AVERROR(ENOMEM);
    encoder->context = gatehouse_av.avcodec_alloc_context3(codec);
    encoder->packet = gatehouse_av.av_packet_alloc();
    encoder->frame = gatehouse_av.av_frame_alloc();
    int code = AVERROR(ENOMEM);
    if (encoder->context != NULL && encoder->packet != NULL && encoder->frame != NULL) {
        *gatehouse_av_thread_count(encoder->context) = 1;
        *gatehouse_av_bit_rate(encoder->context) = options->bit_rate;
        code = codec->type == AVMEDIA_TYPE_AUDIO ? set_up_samples(encoder, codec, options)
                                                 : set_up_picture(encoder, codec, options);
    }
    if (code < 0) {
        gatehouse_av_encoder_free(encoder);
        return code;
    }
    *result = encoder;
    return 0;
}

void gatehouse_av_encoder_free(gatehouse_av_encoder *encoder) {
    if (encoder == NULL) return;
    gatehouse_av.av_frame_free(&encoder->frame);
    gatehouse_av.av_packet_free(&encoder->packet);
    gatehouse_av.avcodec_free_context(&encoder->context);
    gatehouse_av.av_free(encoder);
}

int gatehouse_av_encoder_frame_size(const gatehouse_av_encoder *encoder) {
    return *gatehouse_av_frame_size(encoder->context);
}

const uint8_t *gatehouse_av_encoder_extradata(const gatehouse_av_encoder *encoder, int *size) {
    *size = *gatehouse_av_extradata_size(encoder->context);
    return *gatehouse_av_extradata(encoder->context);
}

int gatehouse_av_encoder_send_samples(gatehouse_av_encoder *encoder, const int16_t *samples, int count) {
    AVFrame *frame = encoder->frame;
    if (count != frame->nb_samples) return AVERROR(EINVAL);
    int code = gatehouse_av.av_frame_make_writable(frame);
    if (code < 0) return code;
    int channels = gatehouse_av_frame_ch_layout(frame)->nb_channels;
    if (frame->format == AV_SAMPLE_FMT_FLTP) {
        for (int channel = 0; channel < channels; channel++) {
            float *plane = (float *)frame->extended_data[channel];
            for (int index = 0; index < count; index++) plane[index] = (float)samples[index] / 32768.0f;
        }
    } else {
        int16_t *plane = (int16_t *)frame->data[0];
        for (int index = 0; index < count; index++) {
            for (int channel = 0; channel < channels; channel++) plane[index * channels + channel] = samples[index];
        }
    }
    frame->pts = encoder->time;
    encoder->time += count;
    return gatehouse_av.avcodec_send_frame(encoder->context, frame);
}

static void copy_plane(uint8_t *to, int stride, const uint8_t *from, int width, int height) {
    for (int row = 0; row < height; row++) memcpy(to + (size_t)row * stride, from + (size_t)row * width, width);
}

int gatehouse_av_encoder_send_picture(
    gatehouse_av_encoder *encoder, const uint8_t *luma, const uint8_t *chroma_blue, const uint8_t *chroma_red) {
    AVFrame *frame = encoder->frame;
    int code = gatehouse_av.av_frame_make_writable(frame);
    if (code < 0) return code;
    int chroma_width = (frame->width + 1) / 2, chroma_height = (frame->height + 1) / 2;
    copy_plane(frame->data[0], frame->linesize[0], luma, frame->width, frame->height);
    copy_plane(frame->data[1], frame->linesize[1], chroma_blue, chroma_width, chroma_height);
    copy_plane(frame->data[2], frame->linesize[2], chroma_red, chroma_width, chroma_height);
    frame->pts = encoder->time++;
    return gatehouse_av.avcodec_send_frame(encoder->context, frame);
}

int gatehouse_av_encoder_receive(gatehouse_av_encoder *encoder, const uint8_t **bytes, size_t *size) {
    gatehouse_av.av_packet_unref(encoder->packet);
    *bytes = NULL;
    *size = 0;
    int code = gatehouse_av.avcodec_receive_packet(encoder->context, encoder->packet);
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return 0;
    if (code < 0) return code;
    *bytes = encoder->packet->data;
    *size = (size_t)encoder->packet->size;
    return 1;
}
