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

/// Progressive files may have so many scans that decoding one takes minutes. Real ones have about ten.
static void bound_scans(j_common_ptr info) {
    if (((j_decompress_ptr)info)->input_scan_number <= 50) return;
    error_manager *errors = (error_manager *)info->err;
    snprintf(errors->text, sizeof errors->text, "it has more than 50 scans");
    longjmp(errors->escape, 1);
}

/// Copies a row of the picture, and adds its colour to a row of sums: each is of two by two samples.
static void take_row(
    const uint8_t *row, int components, int width, const uint8_t *luma_table, uint8_t *luma, uint16_t *blue,
    uint16_t *red) {
    if (components == 1) {
        for (int x = 0; x < width; x++) luma[x] = luma_table[row[x]];
        return;
    }
    for (int x = 0; x < width; x++) {
        luma[x] = luma_table[row[3 * x]];
        blue[x / 2] += row[3 * x + 1];
        red[x / 2] += row[3 * x + 2];
    }
    // The last sample of an odd row counts twice.
    if (width & 1) {
        blue[width / 2] += row[3 * width - 2];
        red[width / 2] += row[3 * width - 1];
    }
}

int gatehouse_jpeg_decode(
    const uint8_t *file, size_t file_size, int maximum_side, int maximum_pixels, const uint8_t *luma_table,
    const uint8_t *chroma_table, gatehouse_jpeg_picture *picture, char *message, size_t message_size) {
    struct jpeg_decompress_struct info;
    struct jpeg_progress_mgr progress = {0};
    error_manager errors;
    // Volatile, since they are changed after setjmp and read after the jump.
    uint8_t *volatile planes = NULL;
    uint8_t *volatile scratch = NULL;
    memset(picture, 0, sizeof *picture);
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = leave;
    errors.base.output_message = say_nothing;
    errors.text[0] = 0;
    if (setjmp(errors.escape)) {
        jpeg_destroy_decompress(&info);
        free(planes);
        free(scratch);
        snprintf(message, message_size, "%s", errors.text);
        return 0;
    }
    jpeg_create_decompress(&info);
    progress.progress_monitor = bound_scans;
    info.progress = &progress;
    jpeg_mem_src(&info, file, file_size);
    jpeg_read_header(&info, TRUE);
    if (info.image_width < 2 || info.image_height < 2 || (int64_t)info.image_width > maximum_side ||
        (int64_t)info.image_height > maximum_side ||
        (int64_t)info.image_width * info.image_height > maximum_pixels) {
        snprintf(errors.text, sizeof errors.text, "a picture of %u x %u pixels is refused", info.image_width,
                 info.image_height);
        longjmp(errors.escape, 1);
    }
    if (info.jpeg_color_space != JCS_YCbCr && info.jpeg_color_space != JCS_GRAYSCALE) {
        snprintf(errors.text, sizeof errors.text, "its colours are not those of a camera (Y'CbCr or grey)");
        longjmp(errors.escape, 1);
    }
    info.out_color_space = info.jpeg_color_space;
    // The colour is halved again, so that nobody would see the difference.
    info.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&info);
    int width = info.output_width, height = info.output_height, components = info.output_components;
    int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    size_t luma_size = (size_t)width * height, chroma_size = (size_t)chroma_width * chroma_height;
    size_t sums_size = sizeof(uint16_t) * chroma_width * 2;
    planes = malloc(luma_size + 2 * chroma_size);
    scratch = malloc(sums_size + (size_t)width * components);
    if (planes == NULL || scratch == NULL) {
        snprintf(errors.text, sizeof errors.text, "no memory");
        longjmp(errors.escape, 1);
    }
    uint8_t *luma = planes, *blue = luma + luma_size, *red = blue + chroma_size;
    uint16_t *blue_sums = (uint16_t *)scratch, *red_sums = blue_sums + chroma_width;
    JSAMPROW row = scratch + sums_size;
    if (components == 1) memset(blue, chroma_table[128], 2 * chroma_size);
    memset(scratch, 0, sums_size);
    for (int y = 0; y < height; y++) {
        jpeg_read_scanlines(&info, &row, 1);
        take_row(row, components, width, luma_table, luma + (size_t)y * width, blue_sums, red_sums);
        if (components == 1 || (y % 2 == 0 && y + 1 < height)) continue;
        // The last row of an odd picture counts twice.
        int samples = y % 2 == 0 ? 2 : 4;
        for (int x = 0; x < chroma_width; x++) {
            size_t place = (size_t)(y / 2) * chroma_width + x;
            blue[place] = chroma_table[(blue_sums[x] + samples / 2) / samples];
            red[place] = chroma_table[(red_sums[x] + samples / 2) / samples];
        }
        memset(scratch, 0, sums_size);
    }
    jpeg_finish_decompress(&info);
    picture->is_damaged = errors.base.num_warnings > 0;
    jpeg_destroy_decompress(&info);
    free(scratch);
    picture->width = width;
    picture->height = height;
    picture->luma = luma;
    picture->chroma_blue = blue;
    picture->chroma_red = red;
    return 1;
}

void gatehouse_jpeg_free(uint8_t *file) { free(file); }
