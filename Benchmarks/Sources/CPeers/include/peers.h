#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The client libraries that Courier is compared with. Each is used in the fastest way that its documentation describes:
// a network thread, callbacks, and a caller's thread that publishes. Sessions are clean unless there is a `folder`,
// without TLS. The version is MQTT 3.1.1, or MQTT 5 with user properties.

enum peer_library { peer_mosquitto, peer_paho };

/// The connection parameters of a peer, and the messages that it sends or receives.
struct peer_plan {
    /// The broker's port on the loopback interface.
    uint16_t port;
    int qos;
    /// The payload size of every message in bytes.
    size_t payload_size;
    /// The number of user properties in each published message, at most 9: `key1` with `value1` and so on. They require
    /// MQTT 5, and only the mosquitto peer supports them. 0 means MQTT 3.1.1.
    int user_properties;
    /// The maximum number of QoS 1 or 2 messages that are published and not yet acknowledged.
    int window;
    const char *topic;
    /// The folder in which Paho stores its messages as files, with a session that is not clean. `NULL` stores them in
    /// memory.
    const char *folder;
};

struct peer;

/// Connects, and waits until the broker accepts the connection. Returns `NULL` if that fails.
struct peer *peer_connect(enum peer_library library, const struct peer_plan *plan);

/// Publishes `count` messages from this thread. Returns when the last is acknowledged. At QoS 0, it returns when the
/// library has taken the last message, because libraries have no limit there. Returns false if the library refuses a
/// message or loses the connection.
bool peer_publish(struct peer *peer, uint64_t count);

/// The first half of `peer_publish`: returns when the library has accepted the last message.
bool peer_accept(struct peer *peer, uint64_t count);

/// The second half of `peer_publish`: returns when the last message is acknowledged. At QoS 0, it returns at once.
bool peer_finish(struct peer *peer);

/// Subscribes, and waits until `count` messages are received. Returns the total size of their payloads in bytes, or 0
/// on failure.
uint64_t peer_receive(struct peer *peer, uint64_t count);

/// Disconnects and frees the peer.
void peer_close(struct peer *peer);

/// The time in seconds that Paho needs to start with the messages that an earlier process stored in `folder`.
struct paho_start {
    /// The time to create a client, which reads the files.
    double created;
    /// The time to create a client and to connect it.
    double connected;
    /// The number of stored messages that Paho found.
    int pending;
};

/// Makes Paho store `count` messages in `folder` without a connection. Returns false if Paho refuses a message.
bool paho_fill(const char *folder, uint16_t port, int count, size_t payload_size, const char *topic);

/// Measures a start. If `connects` is true, it includes the connection to `port`. Returns false on failure.
bool paho_measure_start(const char *folder, uint16_t port, bool connects, struct paho_start *start);
