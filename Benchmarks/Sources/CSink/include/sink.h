#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The other end of a throughput measurement: a minimal MQTT server (3.1.1, and 5.0 with user properties of messages) that
// costs a client as little as it can. It is a process of its own, so its CPU and memory are not those of the client's
// process. It serves one connection after the other on a free port of the loopback interface.

/// What a sink expects of its client, or sends to it.
struct sink_plan {
    /// Sends `messages` once the client has subscribed; otherwise it takes `messages`, acknowledges and counts them.
    bool floods;
    /// Of every message in either direction; the sink complains about any other.
    int qos;
    uint64_t messages;
    /// In bytes, of every message in either direction; the sink complains about any other.
    size_t payload_size;
    /// Of every message in either direction, in MQTT 5: `key1` with `value1` and so on, up to 9. The sink complains about
    /// messages with fewer bytes of properties.
    int user_properties;
    /// How many messages of QoS 1 or 2 the sink leaves unacknowledged while it floods.
    uint16_t window;
    /// Of the messages that the sink sends, whatever the client subscribed to.
    const char *topic;
};

struct sink;

/// Starts the process, which listens when this returns. Returns `NULL` with `errno` set if there is none.
struct sink *sink_start(const struct sink_plan *plan);

/// The TCP port it listens on.
uint16_t sink_port(const struct sink *sink);

/// Waits until every message is through: arrived (QoS 0 and 1) or released (QoS 2), or, if the sink floods, written
/// (QoS 0) or acknowledged (QoS 1 and 2). Returns false when the sink complains or the time is up.
bool sink_wait(struct sink *sink, int seconds);

/// How many messages are through.
uint64_t sink_count(const struct sink *sink);

/// What was wrong with what the client sent, or `NULL`.
const char *sink_complaint(const struct sink *sink);

/// Ends the process and frees everything. A sink also ends when the process that started it does.
void sink_stop(struct sink *sink);
