#include "peer_private.h"
#include <stdlib.h>
#include <string.h>

/// Sets a flag and wakes the waiting thread. The caller must not hold the lock.
static void change(struct peer *peer, bool *flag) {
    pthread_mutex_lock(&peer->lock);
    *flag = true;
    pthread_cond_signal(&peer->changed);
    pthread_mutex_unlock(&peer->lock);
}

void peer_connected(struct peer *peer) { change(peer, &peer->connected); }

void peer_failed(struct peer *peer) { change(peer, &peer->failed); }

void peer_acknowledged(struct peer *peer) {
    pthread_mutex_lock(&peer->lock);
    peer->in_flight--;
    if (peer->in_flight == peer->awaited) pthread_cond_signal(&peer->changed);
    pthread_mutex_unlock(&peer->lock);
}

struct peer *peer_connect(enum peer_library library, const struct peer_plan *plan) {
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->calls = library == peer_mosquitto ? &mosquitto_calls : &paho_calls;
    peer->plan = *plan;
    peer->topic = strdup(plan->topic);
    if (plan->folder) peer->folder = strdup(plan->folder);
    peer->payload = malloc(plan->payload_size + 1);
    peer->awaited = -1;
    pthread_mutex_init(&peer->lock, NULL);
    pthread_cond_init(&peer->changed, NULL);
    bool connected = peer->topic && peer->payload;
    if (connected) {
        memset(peer->payload, 'a', plan->payload_size);
        connected = peer->calls->connect(peer);
    }
    if (connected) {
        pthread_mutex_lock(&peer->lock);
        while (!peer->connected && !peer->failed) pthread_cond_wait(&peer->changed, &peer->lock);
        connected = !peer->failed;
        pthread_mutex_unlock(&peer->lock);
    }
    if (connected) return peer;
    peer_close(peer);
    return NULL;
}

/// Waits until at most `count` messages are in flight. The caller must hold the lock.
static bool wait_in_flight(struct peer *peer, int count) {
    peer->awaited = count;
    while (peer->in_flight > count && !peer->failed) pthread_cond_wait(&peer->changed, &peer->lock);
    peer->awaited = -1;
    return !peer->failed;
}

/// Waits for a free place in the window, and takes it. If the window is full, it waits until the window is half empty,
/// because a wakeup for each acknowledgement costs more than a publish.
static bool enter(struct peer *peer) {
    pthread_mutex_lock(&peer->lock);
    bool entered = peer->in_flight < peer->plan.window || wait_in_flight(peer, peer->plan.window / 2);
    peer->in_flight++;
    pthread_mutex_unlock(&peer->lock);
    return entered;
}

bool peer_accept(struct peer *peer, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (peer->plan.qos > 0 && !enter(peer)) return false;
        if (!peer->calls->publish(peer)) return false;
    }
    return true;
}

bool peer_finish(struct peer *peer) {
    pthread_mutex_lock(&peer->lock);
    bool complete = peer->plan.qos > 0 ? wait_in_flight(peer, 0) : !peer->failed;
    pthread_mutex_unlock(&peer->lock);
    return complete;
}

bool peer_publish(struct peer *peer, uint64_t count) { return peer_accept(peer, count) && peer_finish(peer); }

uint64_t peer_receive(struct peer *peer, uint64_t count) {
    peer->wanted = count;
    if (!peer->calls->subscribe(peer)) return 0;
    pthread_mutex_lock(&peer->lock);
    while (!peer->all_received && !peer->failed) pthread_cond_wait(&peer->changed, &peer->lock);
    bool complete = peer->all_received;
    pthread_mutex_unlock(&peer->lock);
    return complete ? peer->received_bytes : 0;
}

void peer_close(struct peer *peer) {
    if (peer->handle) peer->calls->close(peer);
    pthread_mutex_destroy(&peer->lock);
    pthread_cond_destroy(&peer->changed);
    free(peer->topic);
    free(peer->folder);
    free(peer->payload);
    free(peer);
}
