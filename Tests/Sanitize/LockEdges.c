// Makes Swift's locks visible to ThreadSanitizer.
//
// If no thread waits, `Synchronization.Mutex` is an atomic operation in our own code, which the sanitizer sees. If a
// thread waits, code in libswiftSynchronization hands the lock over. That library is not instrumented, so the sanitizer
// would report every value behind such a lock as a race. This library is loaded before it and replaces its three
// functions. Each replacement calls the original function and reports the lock to the sanitizer. The real locks run,
// and no report is suppressed.
//
// The function names are those of Swift 6.3 on Linux. If a later Swift renames them, Scripts/sanitize fails: it finds a
// race in the canary's part that uses a lock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The functions use Swift's calling convention, and the lock is `self`.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *lock

// Weak, because programs that the tests start load this library too, without a sanitizer.
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
