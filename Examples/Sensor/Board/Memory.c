// Measures the heap and the stack. The heap is the allocator of picolibc.

#include <stddef.h>
#include <unistd.h>

#include "Board.h"
#include "Devices.h"

// Board.ld defines the addresses of these symbols.
extern uint8_t stack_start[], stack_end[], __heap_start[];

static const uint32_t pattern = 0xDEADBEEF;
static uint32_t allocation_count;

// The linker replaces each call of `posix_memalign`, the only allocating function that Swift calls, by a call of this
// function. The `__real` function is picolibc's.
int __real_posix_memalign(void **memory, size_t alignment, size_t count);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t count) {
    allocation_count++;
    return __real_posix_memalign(memory, alignment, count);
}

uint32_t heap_allocation_count(void) { return allocation_count; }

// picolibc's heap never shrinks, so its end is its peak.
uint32_t heap_peak(void) { return (uint32_t)((uint8_t *)sbrk(0) - __heap_start); }

void stack_paint(void) {
    uint32_t *here = __builtin_frame_address(0);
    for (uint32_t volatile *word = (uint32_t *)stack_start; word < here - 16; word++) *word = pattern;
}

uint32_t stack_peak(void) {
    uint32_t *word = (uint32_t *)stack_start;
    while (*word == pattern) word++;
    return (uint32_t)(stack_end - (uint8_t *)word);
}
