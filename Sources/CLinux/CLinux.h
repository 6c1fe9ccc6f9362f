#pragma once

// Wrappers for parts of the Linux headers that Swift cannot import: packed structures, macros with casts, variadic
// functions.

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

// --- epoll: its structure is packed on some processors, and its flags are an enumeration with a sign problem ---

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

// Waits for events for at most `nanoseconds`, or without limit if the value is negative. A kernel before 5.11 waits for
// whole milliseconds.
static inline int courier_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    if (nanoseconds <= 0) return epoll_wait(epoll, events, capacity, nanoseconds < 0 ? -1 : 0);
#ifdef SYS_epoll_pwait2
    // The structure that the kernel expects. Its fields have 64 bits on every processor.
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

// Adds one to the counter. The descriptor is polled only edge-triggered, so no reader has to empty it.
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

// Returns the system's text for an error number. The text may be in `buffer` or in other memory.
static inline const char *courier_describe_error(int number, char *buffer, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    return strerror_r(number, buffer, size);
#else
    return strerror_r(number, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

// --- memory ---

// Returns the bytes that malloc allocated and that are not freed yet, for measurements. Returns 0 if the C library does
// not report it.
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

// Blocks SIGPIPE for the calling thread. A write to a pipe without a reader then only fails with EPIPE.
static inline void courier_block_sigpipe(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

#ifndef __GLIBC__
// musl declares this function only if `_GNU_SOURCE` is defined.
int pthread_setname_np(pthread_t thread, const char *name);
#endif

static inline void courier_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// Sets the nice value of the calling thread. A failure is ignored. On Linux, the id 0 means only this thread.
static inline void courier_set_thread_niceness(int niceness) { setpriority(PRIO_PROCESS, 0, niceness); }
static inline int courier_thread_niceness(void) { return getpriority(PRIO_PROCESS, 0); }

// --- descriptors and sockets ---

// Makes a descriptor non-blocking. Returns 0 or a negative errno.
static inline int courier_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    if (flags & O_NONBLOCK) return 0;
    return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

// Returns a new non-blocking stream socket, or a negative errno.
static inline int courier_stream_socket(int family) {
    int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? -errno : descriptor;
}

// Creates a pipe that no child process inherits: first the read end, then the write end. Returns 0 or a negative errno.
static inline int courier_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC) < 0 ? -errno : 0; }

static inline int courier_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value) < 0 ? -errno : 0;
}

// Returns and clears the pending error of a socket, or 0 if there is none. If the query fails, returns the query's
// errno.
static inline int courier_socket_error(int descriptor) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) < 0 ? errno : value;
}

// Makes a later close send a TCP reset instead of an orderly end.
static inline void courier_set_abortive_close(int descriptor) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static inline int courier_is_socket(int descriptor) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &size) == 0;
}

// Calls recv once. Returns the count or a negative errno, so that errno is never read across a call boundary. The
// functions below do the same for their system calls.
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

// Writes the local address of a socket into `address`. `length` holds the buffer size before the call and the address
// size after it. Returns 0 or a negative errno.
static inline int courier_local_address(int descriptor, void *address, uint32_t *length) {
    socklen_t size = *length;
    int result = getsockname(descriptor, (struct sockaddr *)address, &size);
    *length = size;
    return result < 0 ? -errno : 0;
}

// Writes the numeric host of an address into `host`. Returns 0 or an error code of getnameinfo.
static inline int courier_numeric_name(const void *address, uint32_t length, char *host, uint32_t hostSize) {
    return getnameinfo((const struct sockaddr *)address, length, host, hostSize, NULL, 0, NI_NUMERICHOST);
}
