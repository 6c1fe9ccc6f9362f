#pragma once
#include <stdbool.h>
#include <stdint.h>

// Measures the echo time of libmosquitto in its fastest configuration: a network thread, and one message at a time.

/// Subscribes to `topic` on the broker at `port` on the loopback interface. Then it publishes there at QoS 0 and waits
/// for the message to come back, `count` times. Writes the time of each echo to `nanoseconds`.
///
/// The receiving callback publishes the next message. If `from_caller` is true, the callback wakes this thread, which
/// publishes the next message. Returns false if the library refuses a call or loses the connection.
bool mosquitto_echo(
    uint16_t port, const char *topic, int payload_size, bool from_caller, uint64_t count, uint64_t *nanoseconds);
