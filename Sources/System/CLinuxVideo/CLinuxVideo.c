#include "include/CLinuxVideo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BUFFER_COUNT = 4, VIDEO_MAJOR = 81 };

struct gatehouse_video_device {
    int descriptor;
    /// The buffer whose frame the caller has; -1 where it has none.
    int lent;
    int count;
    struct {
        void *start;
        size_t length;
    } buffers[BUFFER_COUNT];
};

/// A request that a signal has interrupted is sent again.
static int request(int descriptor, unsigned long number, void *argument) {
    int result;
    do { result = ioctl(descriptor, number, argument); } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

static struct v4l2_buffer buffer_at(int index) {
    struct v4l2_buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    buffer.index = (uint32_t)index;
    return buffer;
}

static int is_usable(uint32_t format) {
    return format == V4L2_PIX_FMT_H264 || format == V4L2_PIX_FMT_MJPEG || format == V4L2_PIX_FMT_JPEG;
}

/// The format to ask for: the wanted one, or the best that is offered; 0 if the device has neither.
static uint32_t choose(int descriptor, uint32_t wish, gatehouse_video_info *info) {
    uint32_t best = 0;
    info->offered_count = 0;
    for (uint32_t index = 0; index < 64; index++) {
        struct v4l2_fmtdesc format;
        memset(&format, 0, sizeof format);
        format.index = index;
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        if (request(descriptor, VIDIOC_ENUM_FMT, &format) < 0) break;
        if (info->offered_count < 16) info->offered[info->offered_count++] = format.pixelformat;
        if (!is_usable(format.pixelformat) || (wish != 0 && format.pixelformat != wish)) continue;
        if (best == 0 || format.pixelformat == V4L2_PIX_FMT_H264) best = format.pixelformat;
    }
    return best;
}

static int set_format(int descriptor, const gatehouse_video_wish *wish, uint32_t chosen, gatehouse_video_info *info) {
    struct v4l2_format format;
    memset(&format, 0, sizeof format);
    format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    int code = request(descriptor, VIDIOC_G_FMT, &format);
    if (code < 0) return code;
    format.fmt.pix.pixelformat = chosen;
    format.fmt.pix.field = V4L2_FIELD_ANY;
    format.fmt.pix.bytesperline = 0;
    format.fmt.pix.sizeimage = 0;
    if (wish->width != 0 && wish->height != 0) {
        format.fmt.pix.width = wish->width;
        format.fmt.pix.height = wish->height;
    }
    code = request(descriptor, VIDIOC_S_FMT, &format);
    if (code < 0) return code;
    // The device answers with the nearest format that it has.
    if (format.fmt.pix.pixelformat != chosen) return -EMEDIUMTYPE;
    info->format = chosen;
    info->width = format.fmt.pix.width;
    info->height = format.fmt.pix.height;
    if (wish->rate == 0) return 0;
    struct v4l2_streamparm parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    parameters.parm.capture.timeperframe.numerator = 1;
    parameters.parm.capture.timeperframe.denominator = wish->rate;
    // Devices whose rate is fixed refuse it, and play at their own.
    request(descriptor, VIDIOC_S_PARM, &parameters);
    return 0;
}

static int start(gatehouse_video_device *device) {
    struct v4l2_requestbuffers wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.count = BUFFER_COUNT;
    wanted.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    wanted.memory = V4L2_MEMORY_MMAP;
    int code = request(device->descriptor, VIDIOC_REQBUFS, &wanted);
    if (code < 0) return code;
    if (wanted.count < 2) return -ENOMEM;
    for (int index = 0; index < (int)wanted.count && index < BUFFER_COUNT; index++) {
        struct v4l2_buffer buffer = buffer_at(index);
        code = request(device->descriptor, VIDIOC_QUERYBUF, &buffer);
        if (code < 0) return code;
        void *start =
            mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, device->descriptor, (off_t)buffer.m.offset);
        if (start == MAP_FAILED) return -errno;
        device->buffers[index].start = start;
        device->buffers[index].length = buffer.length;
        device->count = index + 1;
        code = request(device->descriptor, VIDIOC_QBUF, &buffer);
        if (code < 0) return code;
    }
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return request(device->descriptor, VIDIOC_STREAMON, &type);
}

static int set_up(gatehouse_video_device *device, const gatehouse_video_wish *wish, gatehouse_video_info *info) {
    struct v4l2_capability capability;
    memset(&capability, 0, sizeof capability);
    if (request(device->descriptor, VIDIOC_QUERYCAP, &capability) < 0) return -ENODEV;
    uint32_t abilities = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
    if (!(abilities & V4L2_CAP_VIDEO_CAPTURE) || !(abilities & V4L2_CAP_STREAMING)) return -ENODEV;
    memcpy(info->name, capability.card, sizeof capability.card);
    info->name[32] = 0;
    uint32_t chosen = choose(device->descriptor, wish->format, info);
    if (chosen == 0) return -EMEDIUMTYPE;
    int code = set_format(device->descriptor, wish, chosen, info);
    return code < 0 ? code : start(device);
}

int gatehouse_video_open(
    const char *path, const gatehouse_video_wish *wish, gatehouse_video_info *info, gatehouse_video_device **result) {
    *result = NULL;
    memset(info, 0, sizeof *info);
    struct stat status;
    // Another device or a pipe is not even opened: opening alone can have an effect.
    if (stat(path, &status) < 0) return -errno;
    if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != VIDEO_MAJOR) return -ENODEV;
    gatehouse_video_device *device = calloc(1, sizeof *device);
    if (device == NULL) return -ENOMEM;
    device->lent = -1;
    device->descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int code = device->descriptor < 0 ? -errno : set_up(device, wish, info);
    if (code < 0) {
        gatehouse_video_close(device);
        return code;
    }
    *result = device;
    return 0;
}

void gatehouse_video_close(gatehouse_video_device *device) {
    if (device == NULL) return;
    if (device->descriptor >= 0) {
        int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        request(device->descriptor, VIDIOC_STREAMOFF, &type);
    }
    for (int index = 0; index < device->count; index++) munmap(device->buffers[index].start, device->buffers[index].length);
    if (device->descriptor >= 0) close(device->descriptor);
    free(device);
}

int gatehouse_video_descriptor(const gatehouse_video_device *device) { return device->descriptor; }

int gatehouse_video_receive(gatehouse_video_device *device, const uint8_t **bytes, size_t *size, int64_t *time) {
    if (device->lent >= 0) {
        struct v4l2_buffer returned = buffer_at(device->lent);
        device->lent = -1;
        int code = request(device->descriptor, VIDIOC_QBUF, &returned);
        if (code < 0) return code;
    }
    struct v4l2_buffer buffer = buffer_at(0);
    int code = request(device->descriptor, VIDIOC_DQBUF, &buffer);
    if (code == -EAGAIN) return 0;
    if (code < 0) return code;
    if (buffer.index >= (uint32_t)device->count) return -EIO;
    device->lent = (int)buffer.index;
    *bytes = device->buffers[buffer.index].start;
    *size = buffer.flags & V4L2_BUF_FLAG_ERROR ? 0 : buffer.bytesused;
    if (*size > device->buffers[buffer.index].length) *size = device->buffers[buffer.index].length;
    int is_monotonic = (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    *time = is_monotonic ? (int64_t)buffer.timestamp.tv_sec * 1000000 + buffer.timestamp.tv_usec : 0;
    return 1;
}

void gatehouse_video_request_key_frame(gatehouse_video_device *device) {
    struct v4l2_control control = {.id = V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, .value = 1};
    request(device->descriptor, VIDIOC_S_CTRL, &control);
}
