#include "include/CUSRSCTP.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <usrsctp.h>

static gatehouse_sctp_output take_output;

static int send_packet(void *address, void *packet, size_t length, uint8_t service, uint8_t may_not_fragment) {
    (void)service;
    (void)may_not_fragment;
    take_output((uintptr_t)address, packet, length);
    return 0;
}

void gatehouse_sctp_start(gatehouse_sctp_output output) {
    take_output = output;
    usrsctp_init_nothreads(0, send_packet, NULL);
    // What data channels do not use is not offered to peers either.
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auto_asconf(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(1);
    usrsctp_sysctl_set_sctp_reconfig_enable(1);
    // There is no other path to fail over to, and ICE decides when a peer is gone.
    usrsctp_sysctl_set_sctp_rto_initial_default(500);
    usrsctp_sysctl_set_sctp_rto_min_default(250);
    usrsctp_sysctl_set_sctp_rto_max_default(5000);
    // One out of the blue must not be answered again and again.
    usrsctp_sysctl_set_sctp_blackhole(0);
}

void gatehouse_sctp_tick(uint32_t milliseconds) { usrsctp_handle_timers(milliseconds); }

static struct sockaddr_conn address_of(uintptr_t line, uint16_t port) {
    struct sockaddr_conn address;
    memset(&address, 0, sizeof address);
    address.sconn_family = AF_CONN;
    address.sconn_port = htons(port);
    address.sconn_addr = (void *)line;
    return address;
}

static int configure(struct socket *endpoint, uint16_t streams, uint32_t buffer, uint32_t packet) {
    const int on = 1;
    const int size = (int)buffer;
    struct sctp_initmsg start = {.sinit_num_ostreams = streams, .sinit_max_instreams = streams};
    struct sctp_assoc_value resets = {
        .assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = SCTP_ENABLE_RESET_STREAM_REQ};
    struct sctp_assoc_value interleave = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1};
    struct sctp_sack_info acknowledgements = {
        .sack_assoc_id = SCTP_FUTURE_ASSOC, .sack_delay = 0, .sack_freq = 1};
    // ICE asks for consent, so there are no heartbeats. A path's size is not probed; this one is safe.
    struct sctp_paddrparams path;
    memset(&path, 0, sizeof path);
    path.spp_address.ss_family = AF_CONN;
    path.spp_flags = SPP_HB_DISABLE | SPP_PMTUD_DISABLE;
    // The library counts without the common header.
    path.spp_pathmtu = packet - (uint32_t)sizeof(struct sctp_common_header);
    if (usrsctp_set_non_blocking(endpoint, 1) != 0
        || usrsctp_setsockopt(endpoint, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) != 0
        || usrsctp_setsockopt(endpoint, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0
        || usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on) != 0
        || usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on) != 0
        || usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_INITMSG, &start, sizeof start) != 0
        || usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_ENABLE_STREAM_RESET, &resets, sizeof resets) != 0
        || usrsctp_setsockopt(
               endpoint, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, &interleave.assoc_value,
               sizeof interleave.assoc_value)
            != 0
        || usrsctp_setsockopt(
               endpoint, IPPROTO_SCTP, SCTP_DELAYED_SACK, &acknowledgements, sizeof acknowledgements)
            != 0
        || usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) != 0)
        return -1;
    const uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_STREAM_RESET_EVENT};
    for (size_t index = 0; index < sizeof events / sizeof *events; index++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = events[index], .se_on = 1};
        if (usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_EVENT, &event, sizeof event) != 0) return -1;
    }
    return 0;
}

void *gatehouse_sctp_open(uint16_t port, uint16_t streams, uint32_t buffer, uint32_t packet) {
    struct socket *endpoint = usrsctp_socket(AF_CONN, SOCK_SEQPACKET, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (endpoint == NULL) return NULL;
    struct sockaddr_conn address = address_of(0, port);
    if (configure(endpoint, streams, buffer, packet) != 0
        || usrsctp_bind(endpoint, (struct sockaddr *)&address, sizeof address) != 0
        || usrsctp_listen(endpoint, 1) != 0) {
        const int error = errno;
        usrsctp_close(endpoint);
        errno = error;
        return NULL;
    }
    return endpoint;
}

void gatehouse_sctp_close(void *endpoint) { usrsctp_close(endpoint); }

void gatehouse_sctp_add_line(uintptr_t line) { usrsctp_register_address((void *)line); }

void gatehouse_sctp_remove_line(uintptr_t line) { usrsctp_deregister_address((void *)line); }

void gatehouse_sctp_input(uintptr_t line, const void *packet, size_t length) {
    usrsctp_conninput((void *)line, packet, length, 0);
}

int gatehouse_sctp_connect(void *endpoint, uintptr_t line, uint16_t port) {
    struct sockaddr_conn address = address_of(line, port);
    if (usrsctp_connect(endpoint, (struct sockaddr *)&address, sizeof address) == 0) return 0;
    return errno == EINPROGRESS ? 0 : errno;
}

static void describe(struct gatehouse_sctp_event *event, char *buffer, size_t length) {
    const union sctp_notification *note = (const union sctp_notification *)buffer;
    event->kind = GATEHOUSE_SCTP_OTHER;
    event->length = 0;
    if (length < sizeof note->sn_header) return;
    if (note->sn_header.sn_type == SCTP_ASSOC_CHANGE && length >= sizeof note->sn_assoc_change) {
        event->association = note->sn_assoc_change.sac_assoc_id;
        switch (note->sn_assoc_change.sac_state) {
        case SCTP_COMM_UP: event->kind = GATEHOUSE_SCTP_UP; break;
        case SCTP_RESTART: event->kind = GATEHOUSE_SCTP_RESTARTED; break;
        case SCTP_COMM_LOST:
        case SCTP_SHUTDOWN_COMP:
        case SCTP_CANT_STR_ASSOC: event->kind = GATEHOUSE_SCTP_DOWN; break;
        default: break;
        }
    } else if (
        note->sn_header.sn_type == SCTP_STREAM_RESET_EVENT && length >= sizeof note->sn_strreset_event
        && (note->sn_strreset_event.strreset_flags & SCTP_STREAM_RESET_INCOMING_SSN)
        && !(note->sn_strreset_event.strreset_flags & (SCTP_STREAM_RESET_DENIED | SCTP_STREAM_RESET_FAILED))) {
        event->kind = GATEHOUSE_SCTP_RESET;
        event->association = note->sn_strreset_event.strreset_assoc_id;
        event->length = (length - sizeof note->sn_strreset_event) & ~(size_t)1;
        memmove(buffer, buffer + sizeof note->sn_strreset_event, event->length);
    }
}

int gatehouse_sctp_next(void *endpoint, struct gatehouse_sctp_event *event, void *buffer, size_t size) {
    struct sockaddr_conn from;
    struct sctp_rcvinfo details;
    socklen_t from_length = sizeof from, details_length = sizeof details;
    unsigned int kind = SCTP_RECVV_NOINFO;
    int flags = 0;
    memset(&from, 0, sizeof from);
    memset(&details, 0, sizeof details);
    memset(event, 0, sizeof *event);
    const ssize_t length = usrsctp_recvv(
        endpoint, buffer, size, (struct sockaddr *)&from, &from_length, &details, &details_length, &kind, &flags);
    if (length <= 0) return 0;
    event->line = (uintptr_t)from.sconn_addr;
    if (flags & MSG_NOTIFICATION) {
        describe(event, buffer, (size_t)length);
        return 1;
    }
    event->kind = GATEHOUSE_SCTP_MESSAGE;
    event->association = details.rcv_assoc_id;
    event->stream = details.rcv_sid;
    event->protocol = ntohl(details.rcv_ppid);
    event->is_complete = (flags & MSG_EOR) != 0;
    event->length = (size_t)length;
    return 1;
}

int gatehouse_sctp_send(
    void *endpoint, uint32_t association, const struct gatehouse_sctp_sending *how, const void *message,
    size_t length) {
    struct sctp_sendv_spa details;
    memset(&details, 0, sizeof details);
    details.sendv_flags = SCTP_SEND_SNDINFO_VALID;
    details.sendv_sndinfo.snd_assoc_id = association;
    details.sendv_sndinfo.snd_sid = how->stream;
    details.sendv_sndinfo.snd_ppid = htonl(how->protocol);
    details.sendv_sndinfo.snd_flags = SCTP_EOR | (how->is_unordered ? SCTP_UNORDERED : 0);
    if (how->retransmissions >= 0 || how->lifetime >= 0) {
        const int counts = how->retransmissions >= 0;
        const int64_t value = counts ? how->retransmissions : how->lifetime;
        details.sendv_flags |= SCTP_SEND_PRINFO_VALID;
        details.sendv_prinfo.pr_policy = counts ? SCTP_PR_SCTP_RTX : SCTP_PR_SCTP_TTL;
        details.sendv_prinfo.pr_value = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    }
    const ssize_t sent
        = usrsctp_sendv(endpoint, message, length, NULL, 0, &details, sizeof details, SCTP_SENDV_SPA, 0);
    return sent < 0 ? errno : 0;
}

int gatehouse_sctp_reset(void *endpoint, uint32_t association, uint16_t stream) {
    // The structure ends with a list of streams, here of one.
    _Alignas(struct sctp_reset_streams) char request[sizeof(struct sctp_reset_streams) + sizeof stream];
    const struct sctp_reset_streams head = {
        .srs_assoc_id = association, .srs_flags = SCTP_STREAM_RESET_OUTGOING, .srs_number_streams = 1};
    memcpy(request, &head, sizeof head);
    memcpy(request + sizeof head, &stream, sizeof stream);
    return usrsctp_setsockopt(endpoint, IPPROTO_SCTP, SCTP_RESET_STREAMS, request, sizeof request) == 0 ? 0 : errno;
}

int gatehouse_sctp_abort(void *endpoint, uint32_t association) {
    struct sctp_sndinfo details;
    memset(&details, 0, sizeof details);
    details.snd_assoc_id = association;
    details.snd_flags = SCTP_ABORT;
    const ssize_t sent
        = usrsctp_sendv(endpoint, "", 0, NULL, 0, &details, sizeof details, SCTP_SENDV_SNDINFO, 0);
    return sent < 0 ? errno : 0;
}
