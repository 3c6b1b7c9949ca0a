#define _GNU_SOURCE
#include "CLinuxUDP.h"

#include <endian.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
// Positions in SO_MEMINFO's array (linux/sock_diag.h).
#define MEMINFO_DROPS 8
#define MEMINFO_COUNT 9

static socklen_t to_sockaddr(const struct linux_udp_address *address, struct sockaddr_storage *storage) {
    memset(storage, 0, sizeof(struct sockaddr_in6));
    if (address->family == 6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;
        uint64_t halves[2] = {htobe64(address->high), htobe64(address->low)};
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(address->port);
        six->sin6_scope_id = address->scope;
        memcpy(&six->sin6_addr, halves, sizeof(halves));
        return sizeof(*six);
    }
    struct sockaddr_in *four = (struct sockaddr_in *)storage;
    four->sin_family = AF_INET;
    four->sin_port = htons(address->port);
    four->sin_addr.s_addr = htonl((uint32_t)address->low);
    return sizeof(*four);
}

static void set_ipv6(struct linux_udp_address *address, const struct in6_addr *six) {
    uint64_t halves[2];
    memcpy(halves, six, sizeof(halves));
    address->family = 6;
    address->high = be64toh(halves[0]);
    address->low = be64toh(halves[1]);
}

static void from_sockaddr(const struct sockaddr_storage *storage, struct linux_udp_address *address) {
    memset(address, 0, sizeof(*address));
    if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)storage;
        set_ipv6(address, &six->sin6_addr);
        address->port = ntohs(six->sin6_port);
        address->scope = six->sin6_scope_id;
    } else if (storage->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)storage;
        address->family = 4;
        address->low = ntohl(four->sin_addr.s_addr);
        address->port = ntohs(four->sin_port);
    }
}

static int set_option(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof(value)) == 0 ? 0 : -errno;
}

int linux_udp_socket(uint8_t family) {
    bool six = family == 6;
    int descriptor = socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
    if (descriptor < 0) return -errno;
    int error = 0;
    if (six) error = set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (error == 0) {
        error = six ? set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
                    : set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
    }
    if (error != 0) {
        close(descriptor);
        return error;
    }
    // Trust the interface's MTU, not an ICMP message's claim about a path: a forged message would make the kernel
    // refuse segmentation. Datagrams stay near 1,200 bytes, so hardly any path has to fragment them.
    if (six) {
        set_option(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
    } else {
        set_option(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
    }
    return descriptor;
}

int linux_udp_share(int descriptor) {
    return set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
}

int linux_udp_steer_by_source(int descriptor, uint8_t family, uint32_t count, uint32_t key) {
    // Offsets from the IP header. Options or extension headers move the port; such datagrams may then reach another
    // socket, but always the same one.
    const uint32_t ip = (uint32_t)SKF_NET_OFF;
    const uint32_t odd = 0x9E3779B1;
    struct sock_filter code[32];
    unsigned short length = 0;
    uint32_t first = family == 6 ? 8 : 12, last = family == 6 ? 20 : 12, port = family == 6 ? 40 : 20;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, key);
    for (uint32_t offset = first; offset <= last; offset += 4) {
        code[length++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip + offset);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, odd);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ip + port);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, odd);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 15);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, count);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    struct sock_fprog program = {.len = length, .filter = code};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) == 0 ? 0 : -errno;
}

int linux_udp_receive_runs(int descriptor) { return set_option(descriptor, IPPROTO_UDP, UDP_GRO, 1); }

int linux_udp_bind(int descriptor, const struct linux_udp_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = to_sockaddr(address, &storage);
    return bind(descriptor, (struct sockaddr *)&storage, length) == 0 ? 0 : -errno;
}

int linux_udp_local_address(int descriptor, struct linux_udp_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof(storage);
    if (getsockname(descriptor, (struct sockaddr *)&storage, &length) != 0) return -errno;
    from_sockaddr(&storage, address);
    return 0;
}

void linux_udp_set_buffers(int descriptor, int receive, int send) {
    // The FORCE options need CAP_NET_ADMIN; the plain ones are limited by net.core.rmem_max and wmem_max.
    if (set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, receive) != 0) {
        set_option(descriptor, SOL_SOCKET, SO_RCVBUF, receive);
    }
    if (set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, send) != 0) {
        set_option(descriptor, SOL_SOCKET, SO_SNDBUF, send);
    }
}

static int get_option(int descriptor, int name) {
    int value = 0;
    socklen_t length = sizeof(value);
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : -errno;
}

int linux_udp_receive_buffer(int descriptor) { return get_option(descriptor, SO_RCVBUF); }

int linux_udp_send_buffer(int descriptor) { return get_option(descriptor, SO_SNDBUF); }

bool linux_udp_supports_segmentation(int descriptor) {
    int value = 0;
    socklen_t length = sizeof(value);
    return getsockopt(descriptor, IPPROTO_UDP, UDP_SEGMENT, &value, &length) == 0;
}

int64_t linux_udp_receive_drops(int descriptor) {
    uint32_t values[MEMINFO_COUNT] = {0};
    socklen_t length = sizeof(values);
    if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, values, &length) != 0) return -errno;
    return values[MEMINFO_DROPS];
}

int linux_udp_set_checksum(int descriptor, bool enabled) {
    return set_option(descriptor, SOL_SOCKET, SO_NO_CHECK, enabled ? 0 : 1);
}

void linux_close(int descriptor) { close(descriptor); }

int64_t linux_udp_send(
    int descriptor, const void *bytes, size_t count, const struct linux_udp_address *destination,
    const struct linux_udp_address *source, uint16_t segment_size) {
    struct sockaddr_storage storage;
    socklen_t length = to_sockaddr(destination, &storage);
    ssize_t sent;
    if (source == NULL && segment_size == 0) {
        sent = sendto(
            descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&storage, length);
        return sent < 0 ? -errno : sent;
    }

    union {
        char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
        struct cmsghdr alignment;
    } control;
    memset(&control, 0, sizeof(control));
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = &storage,
        .msg_namelen = length,
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    size_t used = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (source != NULL) {
        if (destination->family == 6) {
            struct in6_pktinfo information = {.ipi6_ifindex = source->scope};
            uint64_t halves[2] = {htobe64(source->high), htobe64(source->low)};
            memcpy(&information.ipi6_addr, halves, sizeof(halves));
            header->cmsg_level = IPPROTO_IPV6;
            header->cmsg_type = IPV6_PKTINFO;
            header->cmsg_len = CMSG_LEN(sizeof(information));
            memcpy(CMSG_DATA(header), &information, sizeof(information));
            used += CMSG_SPACE(sizeof(information));
        } else {
            struct in_pktinfo information = {.ipi_spec_dst.s_addr = htonl((uint32_t)source->low)};
            header->cmsg_level = IPPROTO_IP;
            header->cmsg_type = IP_PKTINFO;
            header->cmsg_len = CMSG_LEN(sizeof(information));
            memcpy(CMSG_DATA(header), &information, sizeof(information));
            used += CMSG_SPACE(sizeof(information));
        }
    }
    if (segment_size != 0) {
        if (used != 0) header = (struct cmsghdr *)(control.bytes + used);
        header->cmsg_level = IPPROTO_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(segment_size));
        memcpy(CMSG_DATA(header), &segment_size, sizeof(segment_size));
        used += CMSG_SPACE(sizeof(segment_size));
    }
    message.msg_controllen = used;
    sent = sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

// MARK: Receiving

// Room for the local address of a datagram, of either family, and for the size of the datagrams of a run.
#define CONTROL_SIZE (CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int)))

struct linux_udp_batch {
    uint32_t capacity;
    uint32_t datagram_size;
    // How many entries `datagrams` has: more than messages if one message may be a run of datagrams.
    uint32_t entries;
    // How many of `messages` the last call changed, so that the next one must reset them.
    uint32_t dirty;
    uint8_t *bytes;
    struct linux_udp_datagram *datagrams;
    struct mmsghdr *messages;
    struct iovec *vectors;
    struct sockaddr_storage *names;
    uint8_t *controls;
};

void linux_udp_batch_destroy(struct linux_udp_batch *batch) {
    if (batch == NULL) return;
    free(batch->bytes);
    free(batch->datagrams);
    free(batch->messages);
    free(batch->vectors);
    free(batch->names);
    free(batch->controls);
    free(batch);
}

struct linux_udp_batch *linux_udp_batch_create(uint32_t capacity, uint32_t datagram_size, uint32_t run_length) {
    struct linux_udp_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL) return NULL;
    batch->capacity = capacity;
    batch->datagram_size = datagram_size;
    batch->entries = capacity * run_length;
    batch->dirty = capacity;
    batch->bytes = calloc(capacity, datagram_size);
    batch->datagrams = calloc(batch->entries, sizeof(*batch->datagrams));
    batch->messages = calloc(capacity, sizeof(*batch->messages));
    batch->vectors = calloc(capacity, sizeof(*batch->vectors));
    batch->names = calloc(capacity, sizeof(*batch->names));
    batch->controls = calloc(capacity, CONTROL_SIZE);
    if (batch->bytes == NULL || batch->datagrams == NULL || batch->messages == NULL || batch->vectors == NULL
        || batch->names == NULL || batch->controls == NULL) {
        linux_udp_batch_destroy(batch);
        return NULL;
    }
    for (uint32_t index = 0; index < capacity; index++) {
        batch->vectors[index].iov_base = batch->bytes + (size_t)index * datagram_size;
        batch->vectors[index].iov_len = datagram_size;
        struct msghdr *header = &batch->messages[index].msg_hdr;
        header->msg_name = &batch->names[index];
        header->msg_iov = &batch->vectors[index];
        header->msg_iovlen = 1;
        header->msg_control = batch->controls + (size_t)index * CONTROL_SIZE;
    }
    return batch;
}

uint8_t *linux_udp_batch_bytes(const struct linux_udp_batch *batch) { return batch->bytes; }

const struct linux_udp_datagram *linux_udp_batch_datagrams(const struct linux_udp_batch *batch) {
    return batch->datagrams;
}

// Reads the address that a message came to, and returns the size of its datagrams if it is a run, or else 0.
static uint32_t read_control(struct msghdr *message, struct linux_udp_address *address, uint16_t port) {
    uint32_t segment_size = 0;
    memset(address, 0, sizeof(*address));
    address->port = port;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
            // The local address (spec_dst), not the one in the header, which may be a broadcast address.
            struct in_pktinfo information;
            memcpy(&information, CMSG_DATA(header), sizeof(information));
            address->family = 4;
            address->low = ntohl(information.ipi_spec_dst.s_addr);
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo information;
            memcpy(&information, CMSG_DATA(header), sizeof(information));
            set_ipv6(address, &information.ipi6_addr);
            address->scope = information.ipi6_ifindex;
        } else if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
            int size;
            memcpy(&size, CMSG_DATA(header), sizeof(size));
            segment_size = size > 0 ? (uint32_t)size : 0;
        }
    }
    return segment_size;
}

struct linux_udp_receipt linux_udp_receive(int descriptor, struct linux_udp_batch *batch, uint16_t local_port) {
    struct linux_udp_receipt receipt = {0};
    for (uint32_t index = 0; index < batch->dirty; index++) {
        batch->messages[index].msg_hdr.msg_namelen = sizeof(struct sockaddr_storage);
        batch->messages[index].msg_hdr.msg_controllen = CONTROL_SIZE;
    }
    batch->dirty = 0;
    int received = recvmmsg(descriptor, batch->messages, batch->capacity, MSG_DONTWAIT, NULL);
    if (received < 0) {
        receipt.error = errno;
        return receipt;
    }
    batch->dirty = (uint32_t)received;
    receipt.received = (uint32_t)received;
    for (uint32_t index = 0; index < (uint32_t)received; index++) {
        struct mmsghdr *message = &batch->messages[index];
        if (message->msg_hdr.msg_flags & MSG_TRUNC) {
            receipt.truncated++;
            continue;
        }
        if (message->msg_len == 0) continue;
        struct linux_udp_datagram first;
        from_sockaddr(&batch->names[index], &first.source);
        uint32_t segment_size = read_control(&message->msg_hdr, &first.destination, local_port);
        if (first.destination.family == 0) first.destination.family = first.source.family;
        if (segment_size == 0) segment_size = message->msg_len;
        for (uint32_t offset = 0; offset < message->msg_len; offset += segment_size) {
            uint32_t left = message->msg_len - offset;
            // A run of more datagrams than the kernel makes: the rest is dropped, like what does not fit.
            if (receipt.usable == batch->entries) {
                receipt.truncated++;
                break;
            }
            first.offset = index * batch->datagram_size + offset;
            first.length = left < segment_size ? left : segment_size;
            batch->datagrams[receipt.usable++] = first;
        }
    }
    return receipt;
}

// Each source needs five instructions at most, and the kernel accepts 4,096.
#define MAXIMUM_SOURCES 256

static size_t ignore_if(struct sock_filter *program, uint32_t offset, uint32_t value, uint8_t otherwise) {
    program[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_NET_OFF + offset);
    program[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
    return 2;
}

int linux_tcp_ignore_sources(int descriptor, const struct linux_udp_address *sources, size_t count) {
    struct sock_filter program[MAXIMUM_SOURCES * 5 + 8];
    const struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0), take = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    size_t length = 0;
    if (count == 0) {
        int none = 0;
        int result = setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
        return result < 0 && errno != ENOENT ? -errno : 0;
    }
    if (count > MAXIMUM_SOURCES) return -EINVAL;
    // The version is in the first four bits of either header.
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_NET_OFF);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4);
    size_t branch = length++;
    for (size_t index = 0; index < count; index++) {
        if (sources[index].family != 4) continue;
        length += ignore_if(program + length, 12, (uint32_t)sources[index].low, 1);
        program[length++] = drop;
    }
    program[length++] = take;
    size_t six = length;
    for (size_t index = 0; index < count; index++) {
        if (sources[index].family != 6) continue;
        length += ignore_if(program + length, 8, (uint32_t)(sources[index].high >> 32), 3);
        length += ignore_if(program + length, 12, (uint32_t)sources[index].high, 1);
        program[length++] = drop;
    }
    program[length++] = take;
    // A conditional jump reaches at most 255 instructions, so an unconditional jump covers the distance.
    program[branch] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, 1);
    memmove(program + branch + 2, program + branch + 1, (length - branch - 1) * sizeof(program[0]));
    program[branch + 1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, six - branch - 1);
    length++;
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ? -errno : 0;
}
