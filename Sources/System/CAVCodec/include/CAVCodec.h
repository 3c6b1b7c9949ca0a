#pragma once

#include <stddef.h>
#include <stdint.h>

// libavcodec, opened with dlopen when the first of its codecs is made. Linking it would map about sixty libraries into
// every process of the gateway. Most homes never need them: their cameras send what the viewers understand.
//
// A decoder or an encoder belongs to one thread at a time. Functions that can fail return a negative number, which
// gatehouse_av_describe puts into words.

/// Loads the libraries, once for the process; any thread may call it. Returns NULL when they are loaded, otherwise what
/// is wrong.
const char *gatehouse_av_load(void);

/// The major version of the library that was loaded, for example 59; 0 if none was.
int gatehouse_av_version(void);

/// Puts an error code into words, in `text` of `size` bytes.
void gatehouse_av_describe(int code, char *text, size_t size);

// MARK: Decoding

typedef struct gatehouse_av_decoder gatehouse_av_decoder;

typedef struct {
    /// The decoder's name in libavcodec, for example "aac" or "hevc".
    const char *name;
    /// What the decoder needs to know before the first frame, or NULL.
    const uint8_t *extradata;
    int extradata_size;
    /// Sound: what the description says, or 0.
    int sample_rate;
    int channels;
    int bits_per_coded_sample;
    /// Pictures: larger ones are not decoded, and no more than this many bytes of pictures are held at a time.
    int64_t maximum_pixels;
    int64_t maximum_bytes;
} gatehouse_av_decoder_options;

enum gatehouse_av_sample_format {
    GATEHOUSE_AV_SAMPLES_OTHER = 0,
    GATEHOUSE_AV_SAMPLES_INT16,
    GATEHOUSE_AV_SAMPLES_FLOAT,
};

/// The decoded frame. The memory belongs to the decoder and is valid until its next call.
typedef struct {
    const uint8_t *planes[8];
    int strides[8];
    int64_t timestamp;

    int sample_rate;
    int channels;
    int samples;
    enum gatehouse_av_sample_format sample_format;
    /// Each channel has its own plane; otherwise the first plane holds all, interleaved.
    int is_planar;

    int width;
    int height;
    /// 1 for grey, 3 for a picture with chroma planes; 0 for any other layout (not YUV, packed, big-endian).
    int picture_planes;
    int chroma_shift_x;
    int chroma_shift_y;
    /// Bits per sample: more than 8 are in two bytes, little-endian.
    int depth;
    /// Samples run from 0 to the largest value instead of from 16 to 235.
    int is_full_range;
    /// Parts of the picture were filled in, because they or their references were missing.
    int is_damaged;
} gatehouse_av_frame;

int gatehouse_av_decoder_create(const gatehouse_av_decoder_options *options, gatehouse_av_decoder **decoder);
void gatehouse_av_decoder_free(gatehouse_av_decoder *decoder);
/// Sends one coded frame to the decoder. With size 0 it asks for everything that is still inside.
int gatehouse_av_decoder_send(gatehouse_av_decoder *decoder, const uint8_t *bytes, size_t size, int64_t timestamp);
/// 1 with a frame, 0 when more must be sent first.
int gatehouse_av_decoder_receive(gatehouse_av_decoder *decoder, gatehouse_av_frame *frame);
/// Drops everything that was sent.
void gatehouse_av_decoder_flush(gatehouse_av_decoder *decoder);

// MARK: Encoding

typedef struct gatehouse_av_encoder gatehouse_av_encoder;

typedef struct {
    /// The encoder's name in libavcodec, for example "aac" or "mjpeg".
    const char *name;
    int64_t bit_rate;
    /// Sound.
    int sample_rate;
    int channels;
    /// Samples per channel in a frame where the format leaves it open, otherwise 0.
    int frame_size;
    /// Pictures of planar 4:2:0 in full range, in the quality of libavcodec's scale: 2 is best, 31 worst.
    int width;
    int height;
    int quality;
} gatehouse_av_encoder_options;

int gatehouse_av_encoder_create(const gatehouse_av_encoder_options *options, gatehouse_av_encoder **encoder);
void gatehouse_av_encoder_free(gatehouse_av_encoder *encoder);
/// The number of samples per channel that each frame must hold.
int gatehouse_av_encoder_frame_size(const gatehouse_av_encoder *encoder);
/// What a decoder needs to know before the first frame.
const uint8_t *gatehouse_av_encoder_extradata(const gatehouse_av_encoder *encoder, int *size);
/// Sends one frame of mono sound, which every channel gets.
int gatehouse_av_encoder_send_samples(gatehouse_av_encoder *encoder, const int16_t *samples, int count);
/// Sends one picture of the encoder's size.
int gatehouse_av_encoder_send_picture(
    gatehouse_av_encoder *encoder, const uint8_t *luma, const uint8_t *chroma_blue, const uint8_t *chroma_red);
/// 1 with a packet, whose memory is valid until the encoder's next call; 0 when more must be sent first.
int gatehouse_av_encoder_receive(gatehouse_av_encoder *encoder, const uint8_t **bytes, size_t *size);
