// Decodes or encodes with Sources/System/CAVCodec alone, so that it runs with any version of libavcodec.
//
//     codec-libraries decode NAME MAXIMUM-BYTES   packets in; pictures of 4:2:0 or samples of the first channel out
//     codec-libraries encode aac|mjpeg WIDTH HEIGHT   samples of 16 bits or pictures of 4:2:0 in; packets out
//
// Each packet has its length in front, as four bytes, the most significant one first.
#include "CAVCodec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(int code, const char *what) {
    char text[128];
    gatehouse_av_describe(code, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(2);
}

static int read_packet(uint8_t *bytes, size_t capacity) {
    uint8_t head[4];
    if (fread(head, 1, 4, stdin) != 4) return -1;
    size_t size = (size_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
    return size <= capacity && fread(bytes, 1, size, stdin) == size ? (int)size : -1;
}

static void write_packet(const uint8_t *bytes, size_t size) {
    uint8_t head[4] = {size >> 24, size >> 16, size >> 8, size};
    fwrite(head, 1, 4, stdout);
    fwrite(bytes, 1, size, stdout);
}

static void write_frame(const gatehouse_av_frame *frame) {
    if (frame->samples > 0) {
        fprintf(stderr, "%d Hz, %d channels\n", frame->sample_rate, frame->channels);
        for (int index = 0; index < frame->samples; index++) {
            int step = frame->is_planar ? 1 : frame->channels;
            float value = frame->sample_format == GATEHOUSE_AV_SAMPLES_FLOAT
                ? ((const float *)frame->planes[0])[index * step]
                : ((const int16_t *)frame->planes[0])[index * step] / 32768.0f;
            fwrite(&value, sizeof value, 1, stdout);
        }
        return;
    }
    fprintf(stderr, "%d x %d, damaged %d, full range %d\n", frame->width, frame->height, frame->is_damaged,
            frame->is_full_range);
    for (int plane = 0; plane < frame->picture_planes; plane++) {
        int width = plane == 0 ? frame->width : frame->width >> frame->chroma_shift_x;
        int height = plane == 0 ? frame->height : frame->height >> frame->chroma_shift_y;
        for (int row = 0; row < height; row++) fwrite(frame->planes[plane] + row * frame->strides[plane], 1, width, stdout);
    }
}

static void receive_frames(gatehouse_av_decoder *decoder) {
    gatehouse_av_frame frame;
    int code;
    while ((code = gatehouse_av_decoder_receive(decoder, &frame)) > 0) write_frame(&frame);
    if (code < 0) fail(code, "receive");
}

static void decode(const char *name, int64_t maximum_bytes) {
    static uint8_t bytes[1 << 22];
    gatehouse_av_decoder_options options = {
        .name = name, .channels = 1, .maximum_pixels = 1 << 22, .maximum_bytes = maximum_bytes};
    gatehouse_av_decoder *decoder;
    int code = gatehouse_av_decoder_create(&options, &decoder), size;
    if (code < 0) fail(code, "create");
    while ((size = read_packet(bytes, sizeof bytes)) >= 0) {
        code = gatehouse_av_decoder_send(decoder, bytes, (size_t)size, 0);
        if (code < 0) fail(code, "send");
        receive_frames(decoder);
    }
    gatehouse_av_decoder_send(decoder, NULL, 0, 0);
    receive_frames(decoder);
    gatehouse_av_decoder_free(decoder);
}

static void receive_packets(gatehouse_av_encoder *encoder) {
    const uint8_t *bytes;
    size_t size;
    int code;
    while ((code = gatehouse_av_encoder_receive(encoder, &bytes, &size)) > 0) write_packet(bytes, size);
    if (code < 0) fail(code, "receive");
}

static void encode(const char *name, int width, int height) {
    int is_sound = strcmp(name, "aac") == 0;
    gatehouse_av_encoder_options options = {
        .name = name, .bit_rate = is_sound ? 64000 : 0, .sample_rate = 16000, .channels = 1, .width = width,
        .height = height, .quality = 2};
    gatehouse_av_encoder *encoder;
    int code = gatehouse_av_encoder_create(&options, &encoder), size;
    if (code < 0) fail(code, "create");
    const uint8_t *extradata = gatehouse_av_encoder_extradata(encoder, &size);
    write_packet(extradata, extradata == NULL ? 0 : (size_t)size);
    int count = gatehouse_av_encoder_frame_size(encoder);
    size_t length = is_sound ? (size_t)count * 2 : (size_t)width * height * 3 / 2;
    uint8_t *input = malloc(length);
    while (fread(input, 1, length, stdin) == length) {
        const uint8_t *blue = input + width * height;
        code = is_sound ? gatehouse_av_encoder_send_samples(encoder, (const int16_t *)input, count)
                        : gatehouse_av_encoder_send_picture(encoder, input, blue, blue + width * height / 4);
        if (code < 0) fail(code, "send");
        receive_packets(encoder);
    }
    gatehouse_av_encoder_free(encoder);
    free(input);
}

int main(int count, char **words) {
    const char *problem = gatehouse_av_load();
    if (problem != NULL) {
        fprintf(stderr, "%s\n", problem);
        return 3;
    }
    fprintf(stderr, "libavcodec %d\n", gatehouse_av_version());
    if (count == 4 && strcmp(words[1], "decode") == 0) decode(words[2], atoll(words[3]));
    if (count == 5 && strcmp(words[1], "encode") == 0) encode(words[2], atoi(words[3]), atoi(words[4]));
    return 0;
}
