#pragma once
#include <stdbool.h>
#include <stdint.h>

// libmosquitto as it is the quickest to answer: with a thread of its own for the network, one message under way at a time.

/// Subscribes to `topic` on the broker at `port` on the loopback interface, publishes there at QoS 0 and waits for the message
/// to come back, `count` times; writes down how long each took, in nanoseconds. The next one is published by the callback
/// that receives, or, with `from_caller`, by this thread, which the callback wakes. Returns false when the library refuses
/// something or loses the connection.
bool mosquitto_echo(
    uint16_t port, const char *topic, int payload_size, bool from_caller, uint64_t count, uint64_t *nanoseconds);
