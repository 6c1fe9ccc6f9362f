#pragma once

// Timers that end when somebody sets the clock, which the kernel also does when the machine resumes.

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static inline int courier_wall_timer(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// Lets the timer end after so long by the wall clock, or as soon as that clock is set. 0, or a negative errno.
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

// Takes note of an end that was reported, so that the next one is. 0, or a negative errno: -ECANCELED when the clock
// was set, -EAGAIN when the timer still runs.
static inline int courier_read_timer(int descriptor) {
    uint64_t count;
    return read(descriptor, &count, sizeof count) < 0 ? -errno : 0;
}
