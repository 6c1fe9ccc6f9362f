#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The clients Courier is compared with, each used the fast way its documentation offers: with a thread of its own for the
// network, callbacks, and the caller's thread free to publish. MQTT 3.1.1, a clean session, no TLS.

enum peer_library { peer_mosquitto, peer_paho };

/// What a peer connects to and sends or receives.
struct peer_plan {
    /// On the loopback interface.
    uint16_t port;
    int qos;
    /// In bytes, of every message.
    size_t payload_size;
    /// How many messages of QoS 1 or 2 are published and not yet acknowledged, at most.
    int window;
    const char *topic;
};

struct peer;

/// Connects and waits until the connection is accepted. Returns `NULL` if that fails.
struct peer *peer_connect(enum peer_library library, const struct peer_plan *plan);

/// Publishes `count` messages from this thread. Returns once the last is acknowledged, or, at QoS 0, handed over to the
/// library, which has no limit of its own there. Returns false when the library refuses one or loses the connection.
bool peer_publish(struct peer *peer, uint64_t count);

/// Subscribes, and waits until `count` messages are received. Returns how many bytes their payloads have; 0 on failure.
uint64_t peer_receive(struct peer *peer, uint64_t count);

/// Disconnects and frees everything.
void peer_close(struct peer *peer);
