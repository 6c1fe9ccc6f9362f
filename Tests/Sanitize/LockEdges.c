// Tells the thread sanitizer about the locks of Swift's library.
//
// An uncontended `Synchronization.Mutex` is an atomic operation in our own code, which the sanitizer sees. A contended one
// is handed over by the kernel inside libswiftSynchronization, which is not instrumented: the sanitizer would report every
// value behind a contended lock as a race. This library is loaded in front of it, passes each of its three functions on,
// and adds the edge that the lock makes. The real locks run, and nothing is suppressed.
//
// The names are those of Swift 6.3 on Linux. Should a later Swift rename them, the canary of Scripts/sanitize reports its
// innocent half as a race, and the run fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Swift's calling convention; the lock itself is `self`.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *lock

// Weak, as programs that the tests start load this library too and have no sanitizer.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

static void acquired(void *lock) {
    if (__tsan_acquire) __tsan_acquire(lock);
}

static void releasing(void *lock) {
    if (__tsan_release) __tsan_release(lock);
}

static void *original(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

SWIFT void courier_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool courier_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void courier_unlock(SELF) __asm__(UNLOCK);

SWIFT void courier_lock(uint32_t thread, SELF) {
    typedef SWIFT void (*function)(uint32_t, SELF);
    ((function)original(LOCK))(thread, lock);
    acquired(lock);
}

SWIFT bool courier_try_lock(SELF) {
    typedef SWIFT bool (*function)(SELF);
    bool is_taken = ((function)original(TRY_LOCK))(lock);
    if (is_taken) acquired(lock);
    return is_taken;
}

SWIFT void courier_unlock(SELF) {
    typedef SWIFT void (*function)(SELF);
    releasing(lock);
    ((function)original(UNLOCK))(lock);
}
