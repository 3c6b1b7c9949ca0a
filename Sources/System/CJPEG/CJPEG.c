#include "include/CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    char text[JMSG_LENGTH_MAX];
} error_manager;

static void leave(j_common_ptr info) {
    error_manager *errors = (error_manager *)info->err;
    errors->base.format_message(info, errors->text);
    longjmp(errors->escape, 1);
}

static void say_nothing(j_common_ptr info) { (void)info; }

/// Copies `rows` rows from `first` on, as wide as whole blocks need; past the edge the last sample and row are
/// repeated.
static void copy_rows(
    uint8_t *to, int stride, const uint8_t *from, int width, int height, int first, int rows) {
    for (int row = 0; row < rows; row++) {
        int source = first + row < height ? first + row : height - 1;
        memcpy(to + (size_t)row * stride, from + (size_t)source * width, width);
        memset(to + (size_t)row * stride + width, to[(size_t)row * stride + width - 1], stride - width);
    }
}

int gatehouse_jpeg_encode(
    const uint8_t *luma, const uint8_t *chroma_blue, const uint8_t *chroma_red, int width, int height, int quality,
    uint8_t **file, size_t *file_size, char *message, size_t message_size) {
    struct jpeg_compress_struct info;
    error_manager errors;
    // Volatile, since it is changed after setjmp and read after the jump. libjpeg's output so far is then out of reach.
    // The caller checks the sides, so libjpeg gives up only when memory runs out.
    uint8_t *volatile scratch = NULL;
    unsigned char *written = NULL;
    unsigned long size = 0;
    *file = NULL;
    *file_size = 0;
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = leave;
    errors.base.output_message = say_nothing;
    errors.text[0] = 0;
    if (setjmp(errors.escape)) {
        jpeg_destroy_compress(&info);
        free(scratch);
        snprintf(message, message_size, "%s", errors.text);
        return 0;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &written, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = 3;
    info.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, JCS_YCbCr);
    jpeg_set_quality(&info, quality, TRUE);
    info.raw_data_in = TRUE;
    info.comp_info[0].h_samp_factor = 2;
    info.comp_info[0].v_samp_factor = 2;
    for (int index = 1; index < 3; index++) {
        info.comp_info[index].h_samp_factor = 1;
        info.comp_info[index].v_samp_factor = 1;
    }
    jpeg_start_compress(&info, TRUE);
    int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    int stride = (width + 15) / 16 * 16, chroma_stride = stride / 2;
    scratch = malloc((size_t)stride * 16 + (size_t)chroma_stride * 16);
    if (scratch == NULL) {
        snprintf(errors.text, sizeof errors.text, "no memory");
        longjmp(errors.escape, 1);
    }
    uint8_t *blue = scratch + (size_t)stride * 16, *red = blue + (size_t)chroma_stride * 8;
    JSAMPROW luma_rows[16], blue_rows[8], red_rows[8];
    for (int row = 0; row < 16; row++) luma_rows[row] = scratch + (size_t)stride * row;
    for (int row = 0; row < 8; row++) {
        blue_rows[row] = blue + (size_t)chroma_stride * row;
        red_rows[row] = red + (size_t)chroma_stride * row;
    }
    JSAMPARRAY planes[3] = {luma_rows, blue_rows, red_rows};
    for (int row = 0; row < height; row += 16) {
        copy_rows(scratch, stride, luma, width, height, row, 16);
        copy_rows(blue, chroma_stride, chroma_blue, chroma_width, chroma_height, row / 2, 8);
        copy_rows(red, chroma_stride, chroma_red, chroma_width, chroma_height, row / 2, 8);
        jpeg_write_raw_data(&info, planes, 16);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    free(scratch);
    *file = written;
    *file_size = size;
    return 1;
}

void gatehouse_jpeg_free(uint8_t *file) { free(file); }
