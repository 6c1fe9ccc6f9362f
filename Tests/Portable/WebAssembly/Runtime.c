// The part of a C library that an Embedded Swift program needs on wasm32-unknown-none-wasm, which has no library.
//
// Output and exit are imports of WASI. The allocator never reuses memory, because the program ends soon.

#include <stddef.h>
#include <stdint.h>

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

struct slice { const void *bytes; size_t count; };
WASI(fd_write) int wasi_fd_write(int file, const struct slice *slices, size_t count, size_t *written);
WASI(proc_exit) _Noreturn void wasi_proc_exit(int status);
WASI(random_get) int wasi_random_get(void *bytes, size_t count);

static unsigned char output[4096];
static size_t output_count;

static void flush(void) {
    size_t start = 0;
    while (start < output_count) {
        struct slice slice = {output + start, output_count - start};
        size_t written = 0;
        if (wasi_fd_write(1, &slice, 1, &written) != 0 || written == 0) wasi_proc_exit(2);
        start += written;
    }
    output_count = 0;
}

int putchar(int character) {
    output[output_count++] = (unsigned char)character;
    if (output_count == sizeof output) flush();
    return character;
}

extern unsigned char __heap_base;  // The linker defines the end of the static data.
static uintptr_t heap_end;

int posix_memalign(void **memory, size_t alignment, size_t count) {
    uintptr_t start = heap_end ? heap_end : (uintptr_t)&__heap_base;
    if (alignment < 16) alignment = 16;
    start = (start + alignment - 1) & ~(uintptr_t)(alignment - 1);
    size_t available = __builtin_wasm_memory_size(0) * 65536;
    if (start + count > available) {
        size_t pages = (start + count - available + 65535) / 65536;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return 12;
    }
    heap_end = start + count;
    *memory = (void *)start;
    return 0;
}

void free(void *memory) { (void)memory; }

void *memcpy(void *to, const void *from, size_t count) {
    for (size_t index = 0; index < count; index++) ((unsigned char *)to)[index] = ((const unsigned char *)from)[index];
    return to;
}

void *memmove(void *to, const void *from, size_t count) {
    if ((uintptr_t)to < (uintptr_t)from) return memcpy(to, from, count);
    while (count-- > 0) ((unsigned char *)to)[count] = ((const unsigned char *)from)[count];
    return to;
}

void *memset(void *memory, int value, size_t count) {
    for (size_t index = 0; index < count; index++) ((unsigned char *)memory)[index] = (unsigned char)value;
    return memory;
}

int memcmp(const void *one, const void *other, size_t count) {
    for (size_t index = 0; index < count; index++) {
        int difference = ((const unsigned char *)one)[index] - ((const unsigned char *)other)[index];
        if (difference != 0) return difference;
    }
    return 0;
}

void arc4random_buf(void *bytes, size_t count) {
    if (wasi_random_get(bytes, count) != 0) wasi_proc_exit(3);
}

double ceil(double number) { return __builtin_ceil(number); }

// Multiplies two numbers of 128 bits. `Duration` needs it, and the processor multiplies only 64 bits.
__int128 __multi3(__int128 one, __int128 other) {
    uint64_t a = (uint64_t)one, b = (uint64_t)other;
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = (low >> 32) + (uint32_t)(a0 * b1) + (uint32_t)(a1 * b0);
    uint64_t high = a1 * b1 + (a0 * b1 >> 32) + (a1 * b0 >> 32) + (middle >> 32);
    high += (uint64_t)((unsigned __int128)one >> 64) * b + a * (uint64_t)((unsigned __int128)other >> 64);
    return (__int128)((unsigned __int128)high << 64 | (middle << 32 | (uint32_t)low));
}

uintptr_t __stack_chk_guard = 0x5AFE57AC;  // Unoptimized functions check that nothing overwrites it on the stack.
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

int program_main(int count, char **arguments) __asm__("__main_argc_argv");  // The entry of a Swift program.

void _start(void) {
    int status = program_main(0, NULL);
    flush();
    wasi_proc_exit(status);
}
