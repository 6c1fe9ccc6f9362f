#pragma once

// What Swift cannot import from Linux's headers: packed structures, macros with casts, variadic functions.

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// --- epoll: the structure is packed on some processors, its flags are an enumeration with a sign problem ---

static const uint32_t courier_epoll_in = EPOLLIN;
static const uint32_t courier_epoll_out = EPOLLOUT;
static const uint32_t courier_epoll_read_hangup = EPOLLRDHUP;
static const uint32_t courier_epoll_hangup = EPOLLHUP;
static const uint32_t courier_epoll_error = EPOLLERR;
static const uint32_t courier_epoll_edge = 1u << 31;

static inline int courier_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int courier_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

static inline int courier_epoll_remove(int epoll, int descriptor) {
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

// Waits for at most so many nanoseconds; without limit if they are negative. A kernel before 5.11 waits for whole milliseconds.
static inline int courier_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    if (nanoseconds <= 0) return epoll_wait(epoll, events, capacity, nanoseconds < 0 ? -1 : 0);
#ifdef SYS_epoll_pwait2
    // The kernel's own structure, which has 64 bits on every processor.
    struct { int64_t seconds, nanoseconds; } limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    long count = syscall(SYS_epoll_pwait2, epoll, events, capacity, &limit, NULL, 0);
    if (count >= 0 || errno != ENOSYS) return (int)count;
#endif
    int64_t milliseconds = (nanoseconds - 1) / 1000000 + 1;  // Rounded up, so that a timer is due when its sleep ends.
    return epoll_wait(epoll, events, capacity, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
}

static inline uint32_t courier_epoll_event_flags(const struct epoll_event *events, int index) {
    return events[index].events;
}

static inline uint64_t courier_epoll_event_tag(const struct epoll_event *events, int index) {
    return events[index].data.u64;
}

// --- eventfd ---

static inline int courier_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// Adds one; the descriptor is only ever polled edge-triggered, so nobody needs to read it.
static inline void courier_eventfd_signal(int descriptor) {
    uint64_t one = 1;
    int saved = errno;
    while (write(descriptor, &one, sizeof one) < 0) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN) break;
        uint64_t count;  // The counter is full after 2^64 - 2 signals: empty it and signal again.
        if (read(descriptor, &count, sizeof count) < 0 && errno != EINTR && errno != EAGAIN) break;
    }
    errno = saved;
}

// --- errors ---

// The system's words for an error number; `buffer` may or may not be used for it.
static inline const char *courier_describe_error(int number, char *buffer, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    return strerror_r(number, buffer, size);
#else
    return strerror_r(number, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

// --- memory ---

// What malloc has handed out and not got back, for measurements; 0 where it does not tell.
static inline ptrdiff_t courier_heap_bytes_in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return (ptrdiff_t)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

// --- threads ---

static inline uintptr_t courier_thread_self(void) { return (uintptr_t)pthread_self(); }

// A write to a pipe without a reader raises SIGPIPE on the writing thread; blocked, it is only an EPIPE.
static inline void courier_block_sigpipe(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static inline void courier_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// How much the calling thread yields to others; a wish that is not granted is left. On Linux, 0 is this thread alone.
static inline void courier_set_thread_niceness(int niceness) { setpriority(PRIO_PROCESS, 0, niceness); }
static inline int courier_thread_niceness(void) { return getpriority(PRIO_PROCESS, 0); }

// --- descriptors and sockets ---

// 0, or a negative errno.
static inline int courier_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    if (flags & O_NONBLOCK) return 0;
    return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

// A new non-blocking stream socket, or a negative errno.
static inline int courier_stream_socket(int family) {
    int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? -errno : descriptor;
}

// A pipe that no child process inherits: what is read, then what is written. 0, or a negative errno.
static inline int courier_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC) < 0 ? -errno : 0; }

static inline int courier_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value) < 0 ? -errno : 0;
}

// The error that waits on a socket (0 for none), which reading it clears; or that of asking.
static inline int courier_socket_error(int descriptor) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) < 0 ? errno : value;
}

// Lets a following close send a reset instead of an orderly end.
static inline void courier_set_abortive_close(int descriptor) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static inline int courier_is_socket(int descriptor) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &size) == 0;
}

// One receive or send that returns the count or a negative errno, so that errno is never read across a call boundary.
static inline ssize_t courier_recv(int descriptor, void *buffer, size_t count) {
    ssize_t result = recv(descriptor, buffer, count, 0);
    return result < 0 ? -errno : result;
}

static inline ssize_t courier_send(int descriptor, const void *buffer, size_t count) {
    ssize_t result = send(descriptor, buffer, count, MSG_NOSIGNAL);
    return result < 0 ? -errno : result;
}

static inline ssize_t courier_read(int descriptor, void *buffer, size_t count) {
    ssize_t result = read(descriptor, buffer, count);
    return result < 0 ? -errno : result;
}

static inline ssize_t courier_write(int descriptor, const void *buffer, size_t count) {
    ssize_t result = write(descriptor, buffer, count);
    return result < 0 ? -errno : result;
}

static inline int courier_connect(int descriptor, const void *address, uint32_t length) {
    return connect(descriptor, (const struct sockaddr *)address, length) < 0 ? -errno : 0;
}

static inline int courier_accept(int descriptor) {
    int accepted = accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted < 0 ? -errno : accepted;
}

static inline int courier_bind(int descriptor, const void *address, uint32_t length) {
    return bind(descriptor, (const struct sockaddr *)address, length) < 0 ? -errno : 0;
}

// The local address of a socket into `address`, whose size `length` holds before and after. 0 or a negative errno.
static inline int courier_local_address(int descriptor, void *address, uint32_t *length) {
    socklen_t size = *length;
    int result = getsockname(descriptor, (struct sockaddr *)address, &size);
    *length = size;
    return result < 0 ? -errno : 0;
}

// The numeric host and the port of an address. 0 or a code of getaddrinfo.
static inline int courier_numeric_name(const void *address, uint32_t length, char *host, uint32_t hostSize) {
    return getnameinfo((const struct sockaddr *)address, length, host, hostSize, NULL, 0, NI_NUMERICHOST);
}
