#pragma once
#include "peers.h"

// The upper limit for the speed of a library: the same messages over a bare socket. It uses prebuilt packets, large
// reads and writes, and one thread. Its speed shows that the sink does not limit the libraries.

struct bare_socket;

/// Connects and waits for the CONNACK. Returns `NULL` if that fails.
struct bare_socket *bare_socket_connect(const struct peer_plan *plan);

/// Publishes `count` messages. Waits for the last acknowledgement, or at QoS 0, until all messages are written.
bool bare_socket_publish(struct bare_socket *bare, uint64_t count);

/// Subscribes, then reads and acknowledges `count` messages. Returns the total size of their payloads in bytes, or 0 on
/// failure.
uint64_t bare_socket_receive(struct bare_socket *bare, uint64_t count);

void bare_socket_close(struct bare_socket *bare);
