// The functions of the board that the sensor uses. The board is the machine mps2-an386 of QEMU: an Arm Cortex-M4 with
// 25 MHz and two serial ports. The first port is the line to the broker, the second port is the console.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Returns the milliseconds since the board started.
uint64_t clock_milliseconds(void);

// Stops the processor until the next interrupt: a received byte, or the next millisecond of the clock.
void sleep_until_interrupt(void);

// Switches the first LED of the board.
void led_set(bool is_on);

// Returns the next byte that was received on the line, or -1 if no byte waits.
int line_read(void);

// Returns true if the line received bytes faster than the sensor reads them, so that bytes were lost.
bool line_has_lost_bytes(void);

// Sends a byte on the line. Waits while the port sends the previous byte.
void line_write(uint8_t byte);

// Returns the number of memory blocks that were allocated since the start, including freed blocks.
uint32_t heap_allocation_count(void);

// Returns the largest size in bytes that the heap had since the start.
uint32_t heap_peak(void);

// Returns the largest size in bytes that the stack had since the start.
uint32_t stack_peak(void);
