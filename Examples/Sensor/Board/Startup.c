// Starts the program when the processor leaves reset: the vector table, the memory, and the call of `main`.

#include <stdint.h>
#include <string.h>

#include "Devices.h"

// Board.ld defines the addresses of these symbols.
extern uint8_t stack_end[], data_start[], data_end[], data_in_flash[], bss_start[], bss_end[], thread_start[];

extern uint8_t *__tls;  // picolibc's address of the variables of the thread.

int main(int count, char **arguments);  // The entry of a Swift program.

_Noreturn static void halt(void) {
    for (;;) __asm volatile("wfi");
}

// The processor starts here, with an empty stack.
_Noreturn static void reset(void) {
    memcpy(data_start, data_in_flash, data_end - data_start);
    memset(bss_start, 0, bss_end - bss_start);
    __tls = thread_start;
    stack_paint();
    clock_start();
    serial_start();
    main(0, 0);
    halt();
}

// The processor calls this function for an invalid address or instruction. A trap of Swift is an invalid instruction.
_Noreturn static void fault(void) {
    for (const char *text = "fault: the program trapped\n"; *text; text++) putchar(*text);
    halt();
}

// Swift calls this function if a function wrote beyond its part of the stack.
_Noreturn void __stack_chk_fail(void) { fault(); }

// The first address is the initial stack pointer. Unused interrupts are disabled, so their addresses are 0.
__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    stack_end, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, 0, 0, 0, 0,
    clock_interrupt,  // 15: SysTick
    line_interrupt,   // 16: the first interrupt of a device, a byte that the first serial port received
};
