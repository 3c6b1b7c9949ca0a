#define _GNU_SOURCE
#include "CLinuxUDP.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define MAXIMUM_EVENTS 64

static uint32_t to_epoll(uint32_t bits) {
    uint32_t events = 0;
    if (bits & LINUX_EVENT_READABLE) events |= EPOLLIN | EPOLLRDHUP;
    if (bits & LINUX_EVENT_WRITABLE) events |= EPOLLOUT;
    if (bits & LINUX_EVENT_EDGE) events |= EPOLLET;
    return events;
}

static uint32_t from_epoll(uint32_t events) {
    uint32_t bits = 0;
    if (events & EPOLLIN) bits |= LINUX_EVENT_READABLE;
    if (events & EPOLLOUT) bits |= LINUX_EVENT_WRITABLE;
    if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) bits |= LINUX_EVENT_CLOSED;
    return bits;
}

static int control(int epoll, int operation, int descriptor, uint32_t bits, uint64_t token) {
    struct epoll_event event = {.events = to_epoll(bits), .data.u64 = token};
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

int linux_epoll_create(void) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int linux_epoll_add(int epoll, int descriptor, uint32_t bits, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, bits, token);
}

int linux_epoll_modify(int epoll, int descriptor, uint32_t bits, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, bits, token);
}

int linux_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

static int wait_for(int epoll, struct epoll_event *events, int capacity, int64_t timeout) {
    // Kernels before 5.11 have only whole milliseconds. They are rounded up, so a deadline may be late but is never
    // early.
    static int milliseconds_only = 0;
    if (!__atomic_load_n(&milliseconds_only, __ATOMIC_RELAXED)) {
        struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
        int count = epoll_pwait2(epoll, events, capacity, timeout < 0 ? NULL : &time, NULL);
        // Old container runtimes return EPERM for a system call that they do not know.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        __atomic_store_n(&milliseconds_only, 1, __ATOMIC_RELAXED);
    }
    int64_t milliseconds = timeout < 0 ? -1 : timeout / 1000000 + (timeout % 1000000 != 0);
    return epoll_wait(epoll, events, capacity, milliseconds > 60000 ? 60000 : (int)milliseconds);
}

int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t timeout) {
    struct epoll_event found[MAXIMUM_EVENTS];
    if (capacity > MAXIMUM_EVENTS) capacity = MAXIMUM_EVENTS;
    int count = wait_for(epoll, found, capacity, timeout);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int index = 0; index < count; index++) {
        events[index].token = found[index].data.u64;
        events[index].bits = from_epoll(found[index].events);
    }
    return count;
}

int linux_eventfd_create(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int linux_eventfd_signal(int descriptor) {
    uint64_t one = 1;
    return write(descriptor, &one, sizeof(one)) == sizeof(one) ? 0 : -errno;
}

bool linux_clock_is_synchronized(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result >= 0 && result != TIME_ERROR;
}

void linux_thread_prepare(const char *name) {
    // The kernel refuses names of more than 15 characters.
    char shortened[16];
    strncpy(shortened, name, sizeof(shortened) - 1);
    shortened[sizeof(shortened) - 1] = 0;
    pthread_setname_np(pthread_self(), shortened);
    sigset_t signals;
    sigfillset(&signals);
    // The thread's own instructions cause these: a debugger or sanitizer needs to see them.
    sigdelset(&signals, SIGSEGV);
    sigdelset(&signals, SIGBUS);
    sigdelset(&signals, SIGFPE);
    sigdelset(&signals, SIGILL);
    sigdelset(&signals, SIGTRAP);
    sigdelset(&signals, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}
