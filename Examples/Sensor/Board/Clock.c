// The clock: the timer SysTick of the processor interrupts every millisecond.

#include "Board.h"
#include "Devices.h"

static struct {
    uint32_t control, reload, value;
} volatile *const systick = (void *)0xE000E010;

enum { ticks_per_millisecond = 25000, enable = 1, interrupt = 2, use_processor_clock = 4 };

static volatile uint64_t milliseconds;

void clock_start(void) {
    systick->reload = ticks_per_millisecond - 1;
    systick->value = 0;
    systick->control = enable | interrupt | use_processor_clock;
}

void clock_interrupt(void) { milliseconds++; }

uint64_t clock_milliseconds(void) {
    // The processor reads 64 bits in two steps. An interrupt between the steps would change the value.
    __asm volatile("cpsid i" ::: "memory");
    uint64_t now = milliseconds;
    __asm volatile("cpsie i" ::: "memory");
    return now;
}

void sleep_until_interrupt(void) { __asm volatile("wfi" ::: "memory"); }
