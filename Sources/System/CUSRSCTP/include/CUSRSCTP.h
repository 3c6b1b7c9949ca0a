#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The part of libusrsctp that data channels need. The library keeps its state in global variables: there is one stack in a
// process. It is used without a socket of the system (AF_CONN): packets go in and out as bytes, and its timers run
// when they are told how much time has passed.
//
// A `line` is the number by which the stack knows the way to one peer. The library takes it for an address in memory; it
// compares it and never follows it.

/// Takes a packet that has to be sent on a line. The memory is valid during the call.
typedef void (*gatehouse_sctp_output)(uintptr_t line, const void *packet, size_t length);

/// Starts the stack. Call it once, before everything else.
void gatehouse_sctp_start(gatehouse_sctp_output output);

/// Runs the timers that are due after `milliseconds` more.
void gatehouse_sctp_tick(uint32_t milliseconds);

/// Opens an endpoint: one port with any number of associations. `streams` is the number of streams in each direction,
/// `buffer` the bytes that each association may hold in each direction, `packet` the size of the largest SCTP packet.
/// Returns nil with errno.
void *gatehouse_sctp_open(uint16_t port, uint16_t streams, uint32_t buffer, uint32_t packet);

/// Closes an endpoint. Its associations are aborted.
void gatehouse_sctp_close(void *endpoint);

/// Lets the stack know a line.
void gatehouse_sctp_add_line(uintptr_t line);

/// Forgets a line.
void gatehouse_sctp_remove_line(uintptr_t line);

/// Hands in a packet that came by a line.
void gatehouse_sctp_input(uintptr_t line, const void *packet, size_t length);

/// Begins an association. Returns 0, or errno.
int gatehouse_sctp_connect(void *endpoint, uintptr_t line, uint16_t port);

/// What an endpoint has to report.
enum gatehouse_sctp_kind {
    /// A message, or the first part of one.
    GATEHOUSE_SCTP_MESSAGE = 1,
    /// An association has begun.
    GATEHOUSE_SCTP_UP = 2,
    /// An association has ended.
    GATEHOUSE_SCTP_DOWN = 3,
    /// The peer has started its association again: its streams are new.
    GATEHOUSE_SCTP_RESTARTED = 4,
    /// The peer has reset the streams that it sends on. Their numbers are in the buffer; none means all.
    GATEHOUSE_SCTP_RESET = 5,
    /// Something of no interest here.
    GATEHOUSE_SCTP_OTHER = 6,
};

struct gatehouse_sctp_event {
    int kind;
    uintptr_t line;
    uint32_t association;
    uint16_t stream;
    uint32_t protocol;
    /// Whether the message ends here.
    int is_complete;
    /// The bytes in the buffer.
    size_t length;
};

/// Takes the next event. `buffer` has to be aligned for any type, and holds 1 KiB at least. Returns 0 if there is none.
int gatehouse_sctp_next(void *endpoint, struct gatehouse_sctp_event *event, void *buffer, size_t size);

/// How a message is sent.
struct gatehouse_sctp_sending {
    uint16_t stream;
    uint32_t protocol;
    int is_unordered;
    /// The most retransmissions; a negative number for no limit.
    int64_t retransmissions;
    /// The longest life in milliseconds; a negative number for no limit.
    int64_t lifetime;
};

/// Sends a message. Returns 0, or errno: EAGAIN or ENOBUFS if the association's buffer is full.
int gatehouse_sctp_send(
    void *endpoint, uint32_t association, const struct gatehouse_sctp_sending *how, const void *message,
    size_t length);

/// Resets a stream that this side sends on. Returns 0, or errno: EALREADY while an earlier reset is under way.
int gatehouse_sctp_reset(void *endpoint, uint32_t association, uint16_t stream);

/// Ends an association at once. Returns 0, or errno.
int gatehouse_sctp_abort(void *endpoint, uint32_t association);
