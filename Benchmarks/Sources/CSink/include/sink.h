#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The server of a throughput measurement: a minimal MQTT server (3.1.1, and 5.0 with user properties in messages) that
// uses as little of the client's time as possible. It runs in a separate process, so that its CPU time and memory are
// not counted with the client's. It serves one connection at a time on a free port of the loopback interface.

/// The messages that a sink sends to its client, or expects from it.
struct sink_plan {
    /// If true, the sink sends `messages` after the client has subscribed. If false, it receives, acknowledges and
    /// counts them.
    bool floods;
    /// The QoS of every message in either direction. Any other QoS from the client is an error.
    int qos;
    uint64_t messages;
    /// The payload size of every message in bytes, in either direction. Any other size from the client is an error.
    size_t payload_size;
    /// The number of user properties in every MQTT 5 message, in either direction, at most 9: `key1` with `value1` and
    /// so on. A message from the client with fewer bytes of properties is an error.
    int user_properties;
    /// The maximum number of unacknowledged QoS 1 or 2 messages that the sink sends.
    uint16_t window;
    /// The topic of the messages that the sink sends, regardless of the client's subscription.
    const char *topic;
};

struct sink;

/// Starts the sink's process. It listens when this function returns. Returns `NULL` and sets `errno` on failure.
struct sink *sink_start(const struct sink_plan *plan);

/// Returns the TCP port on which the sink listens.
uint16_t sink_port(const struct sink *sink);

/// Waits until every message is handled. A received message is handled when it has arrived (QoS 0 and 1) or was
/// released (QoS 2). A sent message is handled when it was written (QoS 0) or acknowledged (QoS 1 and 2). Returns false
/// on a complaint or timeout.
bool sink_wait(struct sink *sink, int seconds);

/// Returns the number of handled messages.
uint64_t sink_count(const struct sink *sink);

/// Returns a description of the client's error, or `NULL` if there was none.
const char *sink_complaint(const struct sink *sink);

/// Ends the sink's process and frees the sink. The sink also ends when the process that started it ends.
void sink_stop(struct sink *sink);
