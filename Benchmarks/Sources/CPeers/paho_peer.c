#include "peer_private.h"
#include <MQTTAsync.h>
#include <stdio.h>

static void on_connect(void *peer, MQTTAsync_successData *data) {
    (void)data;
    peer_connected(peer);
}

static void on_failure(void *peer, MQTTAsync_failureData *data) {
    (void)data;
    peer_failed(peer);
}

static void on_connection_lost(void *peer, char *cause) {
    (void)cause;
    peer_failed(peer);
}

static void on_publish(void *peer, MQTTAsync_successData *data) {
    (void)data;
    peer_acknowledged(peer);
}

static int on_message(void *peer, char *topic, int topic_size, MQTTAsync_message *message) {
    (void)topic_size;
    size_t size = (size_t)message->payloadlen;
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    peer_received(peer, size);
    return 1;
}

static bool paho_peer_connect(struct peer *peer) {
    char uri[64];
    snprintf(uri, sizeof uri, "tcp://127.0.0.1:%d", peer->plan.port);
    MQTTAsync client = NULL;
    int persistence = peer->folder ? MQTTCLIENT_PERSISTENCE_DEFAULT : MQTTCLIENT_PERSISTENCE_NONE;
    if (MQTTAsync_create(&client, uri, "bench-paho", persistence, peer->folder) != MQTTASYNC_SUCCESS) return false;
    peer->handle = client;
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    options.MQTTVersion = MQTTVERSION_3_1_1;
    options.cleansession = peer->folder == NULL;
    options.keepAliveInterval = 60;
    options.maxInflight = peer->plan.window;
    options.context = peer;
    options.onSuccess = on_connect;
    options.onFailure = on_failure;
    return MQTTAsync_setCallbacks(client, peer, on_connection_lost, on_message, NULL) == MQTTASYNC_SUCCESS
        && MQTTAsync_connect(client, &options) == MQTTASYNC_SUCCESS;
}

static bool paho_peer_publish(struct peer *peer) {
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    if (peer->plan.qos > 0) {
        options.context = peer;
        options.onSuccess = on_publish;
        options.onFailure = on_failure;
    }
    return MQTTAsync_send(
               peer->handle, peer->topic, (int)peer->plan.payload_size, peer->payload, peer->plan.qos, 0, &options)
        == MQTTASYNC_SUCCESS;
}

static bool paho_peer_subscribe(struct peer *peer) {
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    options.context = peer;
    options.onFailure = on_failure;
    return MQTTAsync_subscribe(peer->handle, peer->topic, peer->plan.qos, &options) == MQTTASYNC_SUCCESS;
}

static void on_disconnect(void *peer, MQTTAsync_successData *data) {
    (void)data;
    peer_failed(peer);
}

static void paho_peer_close(struct peer *peer) {
    MQTTAsync_disconnectOptions options = MQTTAsync_disconnectOptions_initializer;
    options.context = peer;
    options.onSuccess = on_disconnect;
    options.onFailure = on_failure;
    MQTTAsync client = peer->handle;
    pthread_mutex_lock(&peer->lock);
    bool lost = peer->failed;
    pthread_mutex_unlock(&peer->lock);
    if (!lost && MQTTAsync_disconnect(client, &options) == MQTTASYNC_SUCCESS) {
        pthread_mutex_lock(&peer->lock);
        while (!peer->failed) pthread_cond_wait(&peer->changed, &peer->lock);
        pthread_mutex_unlock(&peer->lock);
    }
    MQTTAsync_destroy(&client);
}

const struct peer_calls paho_calls = {
    paho_peer_connect, paho_peer_publish, paho_peer_subscribe, paho_peer_close,
};
