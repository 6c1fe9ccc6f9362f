// Functions that only the files of this folder use.

#pragma once

// Starts the clock and the serial ports.
void clock_start(void);
void serial_start(void);

// The interrupts of the clock and of the line.
void clock_interrupt(void);
void line_interrupt(void);

// Fills the unused stack with a pattern, so that `stack_peak` finds the deepest byte that was used.
void stack_paint(void);

// Sends a character on the console. Swift's `print` calls this function.
int putchar(int character);
