#include "peer_private.h"
#include <mosquitto.h>

static void on_connect(struct mosquitto *client, void *peer, int code) {
    (void)client;
    if (code == 0)
        peer_connected(peer);
    else
        peer_failed(peer);
}

static void on_disconnect(struct mosquitto *client, void *peer, int code) {
    (void)client;
    if (code != 0) peer_failed(peer);
}

static void on_publish(struct mosquitto *client, void *peer, int id) {
    (void)client;
    (void)id;
    peer_acknowledged(peer);
}

static void on_message(struct mosquitto *client, void *peer, const struct mosquitto_message *message) {
    (void)client;
    peer_received(peer, (size_t)message->payloadlen);
}

static bool mosquitto_peer_connect(struct peer *peer) {
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new("bench-mosquitto", true, peer);
    if (!client) return false;
    peer->handle = client;
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, peer->plan.window);
    mosquitto_max_inflight_messages_set(client, (unsigned int)peer->plan.window);
    mosquitto_connect_callback_set(client, on_connect);
    mosquitto_disconnect_callback_set(client, on_disconnect);
    mosquitto_message_callback_set(client, on_message);
    if (peer->plan.qos > 0) mosquitto_publish_callback_set(client, on_publish);
    return mosquitto_connect(client, "127.0.0.1", peer->plan.port, 60) == MOSQ_ERR_SUCCESS
        && mosquitto_loop_start(client) == MOSQ_ERR_SUCCESS;
}

static bool mosquitto_peer_publish(struct peer *peer) {
    return mosquitto_publish(
               peer->handle, NULL, peer->topic, (int)peer->plan.payload_size, peer->payload, peer->plan.qos, false)
        == MOSQ_ERR_SUCCESS;
}

static bool mosquitto_peer_subscribe(struct peer *peer) {
    return mosquitto_subscribe(peer->handle, NULL, peer->topic, peer->plan.qos) == MOSQ_ERR_SUCCESS;
}

static void mosquitto_peer_close(struct peer *peer) {
    mosquitto_disconnect(peer->handle);
    mosquitto_loop_stop(peer->handle, false);
    mosquitto_destroy(peer->handle);
    mosquitto_lib_cleanup();
}

const struct peer_calls mosquitto_calls = {
    mosquitto_peer_connect, mosquitto_peer_publish, mosquitto_peer_subscribe, mosquitto_peer_close,
};
