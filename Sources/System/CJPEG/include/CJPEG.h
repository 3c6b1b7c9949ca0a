#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg reports errors by a jump out of its functions, and that jump must not cross Swift. So this project uses it
// through these functions.

/// Encodes planes of 4:2:0 in full range as a JFIF file. Rows follow one another without padding; chroma planes are
/// half as wide and high, rounded up.
///
/// Returns 1 and the file, which gatehouse_jpeg_free frees; otherwise 0 and the reason, in `message` of `message_size`.
int gatehouse_jpeg_encode(
    const uint8_t *luma, const uint8_t *chroma_blue, const uint8_t *chroma_red, int width, int height, int quality,
    uint8_t **file, size_t *file_size, char *message, size_t message_size);

/// A picture in planes of 4:2:0. Rows follow one another without padding; chroma planes are half as wide and high,
/// rounded up. The planes are one block of memory, which gatehouse_jpeg_free frees through `luma`.
typedef struct {
    int width, height;
    uint8_t *luma, *chroma_blue, *chroma_red;
    /// Parts were missing or damaged, and were filled in.
    int is_damaged;
} gatehouse_jpeg_picture;

/// Decodes a JPEG file in shades of grey or in colour (Y'CbCr). Each sample is replaced by what a table has at its place.
/// A picture of more than `maximum_side` on a side, or more than `maximum_pixels`, is refused.
///
/// Returns 1 and the picture; otherwise 0 and the reason, in `message` of `message_size`.
int gatehouse_jpeg_decode(
    const uint8_t *file, size_t file_size, int maximum_side, int maximum_pixels, const uint8_t *luma_table,
    const uint8_t *chroma_table, gatehouse_jpeg_picture *picture, char *message, size_t message_size);

void gatehouse_jpeg_free(uint8_t *file);
