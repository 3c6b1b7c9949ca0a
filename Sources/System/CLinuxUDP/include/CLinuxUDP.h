// The parts of Linux's datagram and event interfaces that Swift cannot call itself: control messages are macros, and
// epoll's event is a packed union. Every function is one thin step. Policy (what an error means) stays in Swift.
//
// Functions that can fail return -errno instead of setting errno.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Addresses

// An address and a port in host byte order. `family` is 4 or 6; an IPv4 address is in the low half of `low`.
struct linux_udp_address {
    uint64_t high;
    uint64_t low;
    uint32_t scope;
    uint16_t port;
    uint8_t family;
};

// MARK: Sockets

// A non-blocking, close-on-exec UDP socket of `family` that reports the local address of each datagram that it
// receives. An IPv6 socket carries IPv6 only.
int linux_udp_socket(uint8_t family);
// Lets the kernel hand over datagrams that arrived as one run in one message (UDP_GRO, since Linux 5.0). The batch must have
// room for runs. Returns 0 or -errno.
int linux_udp_receive_runs(int descriptor);

int linux_udp_bind(int descriptor, const struct linux_udp_address *address);
// Lets further sockets of this user that have been shared in the same way bind the address of `descriptor`
// (SO_REUSEPORT). A socket that is bound first and shared then still finds out that another program uses the address.
int linux_udp_share(int descriptor);
// Lets the kernel choose among `count` shared sockets of one address by a datagram's source address and port alone,
// mixed with `key`. The kernel's own choice depends on the destination as well. `descriptor` is any of the sockets,
// `family` theirs. The sockets count from 0 in the order in which they were bound.
int linux_udp_steer_by_source(int descriptor, uint8_t family, uint32_t count, uint32_t key);
int linux_udp_local_address(int descriptor, struct linux_udp_address *address);
// Asks for buffers of these sizes in bytes, beyond the system's limit where the process may.
void linux_udp_set_buffers(int descriptor, int receive, int send);
// The sizes that the kernel granted, in bytes of payload and bookkeeping.
int linux_udp_receive_buffer(int descriptor);
int linux_udp_send_buffer(int descriptor);
// Whether the kernel supports UDP_SEGMENT at all.
bool linux_udp_supports_segmentation(int descriptor);
// How many datagrams the kernel dropped because the receive buffer was full, since the socket was made.
int64_t linux_udp_receive_drops(int descriptor);
// Switches the UDP checksum of outgoing IPv4 datagrams off or on. Without it the kernel refuses segmentation. A test
// uses that to make the kernel refuse.
int linux_udp_set_checksum(int descriptor, bool enabled);
void linux_close(int descriptor);

// Makes a listening TCP socket ignore hosts: the kernel drops their packets before it makes a connection. For IPv4 the
// whole address counts, for IPv6 the upper half. With no sources, no host is ignored.
int linux_tcp_ignore_sources(int descriptor, const struct linux_udp_address *sources, size_t count);

// Sends `count` bytes to `destination`. A `segment_size` other than 0 cuts them into datagrams of that size; a
// `source` other than NULL is the local address to send from. Returns the number of bytes sent.
int64_t linux_udp_send(
    int descriptor, const void *bytes, size_t count, const struct linux_udp_address *destination,
    const struct linux_udp_address *source, uint16_t segment_size);

// MARK: Receiving

// One datagram of a batch. `offset` is where its bytes start in the batch's memory.
struct linux_udp_datagram {
    struct linux_udp_address source;
    struct linux_udp_address destination;
    uint32_t offset;
    uint32_t length;
};

// The memory that a recvmmsg call fills. It is made once and reused for each call.
struct linux_udp_batch;

// Makes room for `capacity` messages of `datagram_size` bytes, each of which may be a run of `run_length` datagrams.
// Returns NULL when memory runs out.
struct linux_udp_batch *linux_udp_batch_create(uint32_t capacity, uint32_t datagram_size, uint32_t run_length);
void linux_udp_batch_destroy(struct linux_udp_batch *batch);
uint8_t *linux_udp_batch_bytes(const struct linux_udp_batch *batch);
const struct linux_udp_datagram *linux_udp_batch_datagrams(const struct linux_udp_batch *batch);

// What one call of linux_udp_receive found.
struct linux_udp_receipt {
    // How many messages the kernel handed over, usable or not: datagrams, or runs of them.
    uint32_t received;
    // How many entries of the batch hold a datagram for the caller.
    uint32_t usable;
    // How many did not fit the batch's datagram size and were dropped.
    uint32_t truncated;
    // 0, or the errno of the call.
    int32_t error;
};

// Receives up to one batch of waiting datagrams and sets the port of their `destination` to `local_port`. Empty and
// truncated datagrams are counted and left out.
struct linux_udp_receipt linux_udp_receive(int descriptor, struct linux_udp_batch *batch, uint16_t local_port);

// MARK: Events

// The bits of an epoll event that the callers use.
enum {
    LINUX_EVENT_READABLE = 1,
    LINUX_EVENT_WRITABLE = 2,
    LINUX_EVENT_CLOSED = 4,
    LINUX_EVENT_EDGE = 8,
};

struct linux_event {
    uint64_t token;
    uint32_t bits;
};

int linux_epoll_create(void);
int linux_epoll_add(int epoll, int descriptor, uint32_t bits, uint64_t token);
int linux_epoll_modify(int epoll, int descriptor, uint32_t bits, uint64_t token);
int linux_epoll_remove(int epoll, int descriptor);
// Waits for at most `timeout` nanoseconds, or forever when it is negative. `capacity` is at most 64. A wait that a
// signal interrupts counts as a wait without events.
int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t timeout);

int linux_eventfd_create(void);
int linux_eventfd_signal(int descriptor);

// MARK: Threads

// Names the calling thread, keeps signals away from it and asks the kernel for wake-ups without the usual 50 µs slack.
void linux_thread_prepare(const char *name);

// MARK: Clocks

// Whether something keeps the wall clock right, as adjtimex(2) says.
bool linux_clock_is_synchronized(void);

#ifdef __cplusplus
}
#endif
