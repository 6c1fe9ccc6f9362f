// The serial ports (Arm's CMSDK UART) and the LED.

#include <stddef.h>

#include "Board.h"
#include "Devices.h"

struct uart {
    uint32_t data, state, control, interrupts, baud_divider;
};
static struct uart volatile *const line = (void *)0x40004000, *const console = (void *)0x40005000;

enum { is_sending = 1, has_received = 2, has_overrun = 8 };         // bits of `state`
enum { send = 1, receive = 2, interrupt_if_received = 8 };          // bits of `control`
enum { received = 2 };                                              // bits of `interrupts`; writing 1 clears a bit
enum { baud_divider = 25000000 / 115200 };

// Switches on the interrupt of the line, the interrupt 0, in the interrupt controller; or off.
static uint32_t volatile *const interrupt_on = (void *)0xE000E100, *const interrupt_off = (void *)0xE000E180;

// The bytes that were received and not read. The broker sends at most 1,024 bytes that the sensor has not acknowledged:
// the sensor's receive maximum times its maximum packet size.
static uint8_t ring[1024];
static volatile size_t written_count, read_count;

void serial_start(void) {
    line->baud_divider = console->baud_divider = baud_divider;
    line->control = send | receive | interrupt_if_received;
    console->control = send;
    *interrupt_on = 1;
}

void line_interrupt(void) {
    while (line->state & has_received) {
        if (written_count - read_count == sizeof ring) {
            *interrupt_off = 1;  // The interrupt remains pending until `line_read` makes room.
            return;
        }
        line->interrupts = received;
        ring[written_count % sizeof ring] = (uint8_t)line->data;
        written_count++;
    }
}

int line_read(void) {
    if (written_count == read_count) return -1;
    uint8_t byte = ring[read_count % sizeof ring];
    read_count++;
    *interrupt_on = 1;
    return byte;
}

bool line_has_lost_bytes(void) { return line->state & has_overrun; }

void line_write(uint8_t byte) {
    while (line->state & is_sending) {}
    line->data = byte;
}

int putchar(int character) {
    while (console->state & is_sending) {}
    console->data = (uint8_t)character;
    return character;
}

void led_set(bool is_on) { *(uint32_t volatile *)0x40028000 = is_on; }
