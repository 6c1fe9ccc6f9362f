#pragma once
#include "peers.h"
#include <pthread.h>

/// The functions that each library implements for a peer.
struct peer_calls {
    /// Starts to connect; the library then calls `peer_connected` or `peer_failed`.
    bool (*connect)(struct peer *peer);
    /// Publishes one message; at QoS 1 and 2 the library then calls `peer_acknowledged`.
    bool (*publish)(struct peer *peer);
    /// Starts to subscribe; the library then calls `peer_received` for each message.
    bool (*subscribe)(struct peer *peer);
    void (*close)(struct peer *peer);
};

extern const struct peer_calls mosquitto_calls, paho_calls;

struct peer {
    const struct peer_calls *calls;
    struct peer_plan plan;
    char *topic, *payload, *folder;
    /// The library's handle for the client.
    void *handle;
    /// The library's list of the user properties.
    void *properties;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool connected, failed;
    int in_flight;
    /// The publisher waits until this number of messages is in flight; -1 while it does not wait.
    int awaited;
    bool all_received;

    /// Only the library's thread uses these fields until `all_received` is true.
    uint64_t received, received_bytes;
    uint64_t wanted;
};

void peer_connected(struct peer *peer);
void peer_failed(struct peer *peer);
void peer_acknowledged(struct peer *peer);

static inline void peer_all_received(struct peer *peer) {
    pthread_mutex_lock(&peer->lock);
    peer->all_received = true;
    pthread_cond_signal(&peer->changed);
    pthread_mutex_unlock(&peer->lock);
}

static inline void peer_received(struct peer *peer, size_t payload_size) {
    peer->received_bytes += payload_size;
    if (++peer->received == peer->wanted) peer_all_received(peer);
}
