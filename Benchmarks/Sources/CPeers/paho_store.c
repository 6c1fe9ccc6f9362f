#include "peers.h"
#include <MQTTAsync.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static MQTTAsync make_client(const char *folder, uint16_t port) {
    char uri[64];
    snprintf(uri, sizeof uri, "tcp://127.0.0.1:%d", port);
    MQTTAsync_createOptions options = MQTTAsync_createOptions_initializer;
    options.sendWhileDisconnected = 1;
    options.allowDisconnectedSendAtAnyTime = 1;
    options.maxBufferedMessages = 65535;
    MQTTAsync client = NULL;
    int result = MQTTAsync_createWithOptions(
        &client, uri, "bench-paho", MQTTCLIENT_PERSISTENCE_DEFAULT, (void *)folder, &options);
    return result == MQTTASYNC_SUCCESS ? client : NULL;
}

bool paho_fill(const char *folder, uint16_t port, int count, size_t payload_size, const char *topic) {
    MQTTAsync client = make_client(folder, port);
    char *payload = calloc(1, payload_size + 1);
    bool filled = client && payload;
    for (int i = 0; filled && i < count; i++) {
        MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
        filled = MQTTAsync_send(client, topic, (int)payload_size, payload, 1, 0, &options) == MQTTASYNC_SUCCESS;
    }
    free(payload);
    return filled;  // The client is not destroyed, because a crash does not destroy it either.
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int outcome;

static void end(int value) {
    pthread_mutex_lock(&lock);
    outcome = value;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_connect(void *context, MQTTAsync_successData *data) {
    (void)context;
    (void)data;
    end(1);
}

static void on_failure(void *context, MQTTAsync_failureData *data) {
    (void)context;
    (void)data;
    end(-1);
}

static int on_message(void *context, char *topic, int topic_size, MQTTAsync_message *message) {
    (void)context;
    (void)topic_size;
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    return 1;
}

bool paho_measure_start(const char *folder, uint16_t port, bool connects, struct paho_start *start) {
    double begin = seconds();
    MQTTAsync client = make_client(folder, port);
    if (!client) return false;
    start->created = seconds() - begin;
    start->connected = 0;
    start->pending = 0;
    if (!connects) {
        MQTTAsync_token *tokens = NULL;
        if (MQTTAsync_getPendingTokens(client, &tokens) == MQTTASYNC_SUCCESS && tokens) {
            while (tokens[start->pending] != -1) start->pending++;
            MQTTAsync_free(tokens);
        }
        return true;
    }
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    options.cleansession = 0;
    options.maxInflight = 1000;
    options.onSuccess = on_connect;
    options.onFailure = on_failure;
    if (MQTTAsync_setCallbacks(client, NULL, NULL, on_message, NULL) != MQTTASYNC_SUCCESS
        || MQTTAsync_connect(client, &options) != MQTTASYNC_SUCCESS)
        return false;
    pthread_mutex_lock(&lock);
    while (outcome == 0) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    start->connected = seconds() - begin;
    return outcome > 0;
}
