#pragma once
#include "peers.h"

// The floor: the same messages over a bare socket with ready-made packets, large reads and writes, one thread and nothing
// that a library needs. What it reaches shows that the sink is not what limits the others.

struct bare_socket;

/// Connects and waits for CONNACK. Returns `NULL` if that fails.
struct bare_socket *bare_socket_connect(const struct peer_plan *plan);

/// Publishes `count` messages and waits for the last acknowledgement; at QoS 0 until they are written.
bool bare_socket_publish(struct bare_socket *bare, uint64_t count);

/// Subscribes, reads and acknowledges `count` messages. Returns how many bytes their payloads have; 0 on failure.
uint64_t bare_socket_receive(struct bare_socket *bare, uint64_t count);

void bare_socket_close(struct bare_socket *bare);
