#include "peer_private.h"
#include <mosquitto.h>
#include <mqtt_protocol.h>

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

/// Switches the client to MQTT 5, and creates the user properties of its messages.
static bool use_properties(struct peer *peer, struct mosquitto *client) {
    mosquitto_property *properties = NULL;
    char name[] = "key0", value[] = "value0";
    for (int i = 0; i < peer->plan.user_properties; i++) {
        name[3]++;
        value[5]++;
        if (mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, name, value) != MOSQ_ERR_SUCCESS)
            return false;
    }
    peer->properties = properties;
    return mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5) == MOSQ_ERR_SUCCESS;
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
    if (peer->plan.user_properties > 0 && !use_properties(peer, client)) return false;
    return mosquitto_connect(client, "127.0.0.1", peer->plan.port, 60) == MOSQ_ERR_SUCCESS
        && mosquitto_loop_start(client) == MOSQ_ERR_SUCCESS;
}

static bool mosquitto_peer_publish(struct peer *peer) {
    int size = (int)peer->plan.payload_size, qos = peer->plan.qos;
    int code = peer->properties
        ? mosquitto_publish_v5(peer->handle, NULL, peer->topic, size, peer->payload, qos, false, peer->properties)
        : mosquitto_publish(peer->handle, NULL, peer->topic, size, peer->payload, qos, false);
    return code == MOSQ_ERR_SUCCESS;
}

static bool mosquitto_peer_subscribe(struct peer *peer) {
    return mosquitto_subscribe(peer->handle, NULL, peer->topic, peer->plan.qos) == MOSQ_ERR_SUCCESS;
}

static void mosquitto_peer_close(struct peer *peer) {
    mosquitto_disconnect(peer->handle);
    mosquitto_loop_stop(peer->handle, false);
    mosquitto_destroy(peer->handle);
    mosquitto_property_free_all((mosquitto_property **)&peer->properties);
    mosquitto_lib_cleanup();
}

const struct peer_calls mosquitto_calls = {
    mosquitto_peer_connect, mosquitto_peer_publish, mosquitto_peer_subscribe, mosquitto_peer_close,
};
