#pragma once

// Wall-clock timers that also end when the system clock is set. The kernel also ends them when the machine resumes.

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static inline int courier_wall_timer(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// Starts the timer. It ends after the given time by the wall clock, or as soon as that clock is set. Returns 0 or a
// negative errno.
static inline int courier_arm_wall_timer(int descriptor, int64_t seconds, int64_t nanoseconds) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) < 0) return -errno;
    struct itimerspec due = {.it_value = {now.tv_sec + seconds, now.tv_nsec + nanoseconds}};
    if (due.it_value.tv_nsec >= 1000000000) {
        due.it_value.tv_nsec -= 1000000000;
        due.it_value.tv_sec += 1;
    }
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &due, NULL) < 0 ? -errno : 0;
}

// Reads the end of a timer, so that the next end is reported too. Returns 0, or a negative errno: -ECANCELED if the
// clock was set, -EAGAIN if the timer still runs.
static inline int courier_read_timer(int descriptor) {
    uint64_t count;
    return read(descriptor, &count, sizeof count) < 0 ? -errno : 0;
}
