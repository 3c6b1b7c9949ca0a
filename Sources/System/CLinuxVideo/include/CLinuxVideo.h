#pragma once

#include <stddef.h>
#include <stdint.h>

// A camera of this machine (USB or CSI), through Video4Linux. Its frames come in buffers that the kernel fills and this
// process maps. A device belongs to one thread at a time. Functions that can fail return a negative errno.

typedef struct gatehouse_video_device gatehouse_video_device;

typedef struct {
    /// What is wanted: a pixel format of four characters, the first in the lowest byte; 0 takes what the device has, H.264
    /// before Motion JPEG.
    uint32_t format;
    /// In pixels; 0 leaves it to the device.
    uint32_t width;
    uint32_t height;
    /// Pictures per second; 0 leaves it to the device.
    uint32_t rate;
} gatehouse_video_wish;

typedef struct {
    uint32_t format;
    uint32_t width;
    uint32_t height;
    /// The device's name, which ends with a zero.
    char name[33];
    /// The pixel formats that it offers, where none can be used.
    uint32_t offered[16];
    int offered_count;
} gatehouse_video_info;

/// Opens a device and starts it. -ENODEV for a file that is not a camera, -EMEDIUMTYPE where it has no format that can be
/// used: `info` then says what it offers.
int gatehouse_video_open(
    const char *path, const gatehouse_video_wish *wish, gatehouse_video_info *info, gatehouse_video_device **result);
void gatehouse_video_close(gatehouse_video_device *device);
/// The descriptor that is readable when a frame has come.
int gatehouse_video_descriptor(const gatehouse_video_device *device);
/// 1 with a frame, whose memory is valid until the next call; 0 where none has come. A frame that the device marks as
/// damaged has the size 0. The time is that of CLOCK_MONOTONIC in microseconds; 0 where the device has no such time.
int gatehouse_video_receive(gatehouse_video_device *device, const uint8_t **bytes, size_t *size, int64_t *time);
/// Asks for a key frame, where the device encodes.
void gatehouse_video_request_key_frame(gatehouse_video_device *device);
