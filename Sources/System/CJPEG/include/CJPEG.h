#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg reports errors by a jump out of its functions, and that jump must not cross Swift. So this project uses it
// through one function.

/// Encodes planes of 4:2:0 in full range as a JFIF file. Rows follow one another without padding; chroma planes are
/// half as wide and high, rounded up.
///
/// Returns 1 and the file, which gatehouse_jpeg_free frees; otherwise 0 and the reason, in `message` of `message_size`.
int gatehouse_jpeg_encode(
    const uint8_t *luma, const uint8_t *chroma_blue, const uint8_t *chroma_red, int width, int height, int quality,
    uint8_t **file, size_t *file_size, char *message, size_t message_size);

void gatehouse_jpeg_free(uint8_t *file);
