#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The clients Courier is compared with, each used the fast way its documentation offers: with a thread of its own for the
// network, callbacks, and the caller's thread free to publish. A clean session, no TLS; MQTT 3.1.1 without user properties, else 5.

enum peer_library { peer_mosquitto, peer_paho };

/// What a peer connects to and sends or receives.
struct peer_plan {
    /// On the loopback interface.
    uint16_t port;
    int qos;
    /// In bytes, of every message.
    size_t payload_size;
    /// Of every message that is published, in MQTT 5: `key1` with `value1` and so on, up to 9; only mosquitto. 0 is MQTT
    /// 3.1.1.
    int user_properties;
    /// How many messages of QoS 1 or 2 are published and not yet acknowledged, at most.
    int window;
    const char *topic;
    /// Where Paho keeps its messages, in files; with that the session is kept, too. `NULL` for memory.
    const char *folder;
};

struct peer;

/// Connects and waits until the connection is accepted. Returns `NULL` if that fails.
struct peer *peer_connect(enum peer_library library, const struct peer_plan *plan);

/// Publishes `count` messages from this thread. Returns once the last is acknowledged, or, at QoS 0, handed over to the
/// library, which has no limit of its own there. Returns false when the library refuses one or loses the connection.
bool peer_publish(struct peer *peer, uint64_t count);

/// The first half of `peer_publish`: returns as soon as the library has accepted the last message.
bool peer_accept(struct peer *peer, uint64_t count);

/// The second half: returns once the last is acknowledged, or, at QoS 0, at once.
bool peer_finish(struct peer *peer);

/// Subscribes, and waits until `count` messages are received. Returns how many bytes their payloads have; 0 on failure.
uint64_t peer_receive(struct peer *peer, uint64_t count);

/// Disconnects and frees everything.
void peer_close(struct peer *peer);

/// How long Paho takes to begin with what an earlier process left in `folder`, in seconds.
struct paho_start {
    /// To make a client, which reads the files.
    double created;
    /// The same and to be connected.
    double connected;
    /// What it found, in messages.
    int pending;
};

/// Has Paho store `count` messages in `folder` without a connection. They stay there. False when it refuses one.
bool paho_fill(const char *folder, uint16_t port, int count, size_t payload_size, const char *topic);

/// Measures a start; with `connects` until it is connected to `port`. False when that fails.
bool paho_measure_start(const char *folder, uint16_t port, bool connects, struct paho_start *start);
