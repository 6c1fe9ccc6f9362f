#include "echo.h"
#include <mosquitto.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct echo {
    struct mosquitto *client;
    const char *topic;
    char *payload;
    int payload_size;
    bool from_caller;
    uint64_t count, done, sent_at;
    uint64_t *nanoseconds;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /// The number of messages that came back, for the caller's thread, and the state of the connection. Protected by
    /// `lock`.
    uint64_t returned;
    bool subscribed, failed;
};

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(struct echo *echo) {
    pthread_mutex_lock(&echo->lock);
    echo->failed = true;
    pthread_cond_signal(&echo->changed);
    pthread_mutex_unlock(&echo->lock);
}

static void send_one(struct echo *echo) {
    echo->sent_at = now();
    if (mosquitto_publish(echo->client, NULL, echo->topic, echo->payload_size, echo->payload, 0, false)
        != MOSQ_ERR_SUCCESS)
        fail(echo);
}

static void on_connect(struct mosquitto *client, void *object, int code) {
    struct echo *echo = object;
    if (code != 0 || mosquitto_subscribe(client, NULL, echo->topic, 0) != MOSQ_ERR_SUCCESS) fail(echo);
}

static void on_disconnect(struct mosquitto *client, void *object, int code) {
    (void)client;
    if (code != 0) fail(object);
}

static void on_subscribe(struct mosquitto *client, void *object, int id, int count, const int *granted) {
    (void)client;
    (void)id;
    (void)count;
    (void)granted;
    struct echo *echo = object;
    if (!echo->from_caller) return send_one(echo);
    pthread_mutex_lock(&echo->lock);
    echo->subscribed = true;
    pthread_cond_signal(&echo->changed);
    pthread_mutex_unlock(&echo->lock);
}

static void on_message(struct mosquitto *client, void *object, const struct mosquitto_message *message) {
    (void)client;
    (void)message;
    struct echo *echo = object;
    if (!echo->from_caller) {
        echo->nanoseconds[echo->done++] = now() - echo->sent_at;
        if (echo->done < echo->count) return send_one(echo);
    }
    pthread_mutex_lock(&echo->lock);
    echo->returned++;
    pthread_cond_signal(&echo->changed);
    pthread_mutex_unlock(&echo->lock);
}

/// Waits until `count` messages have come back. Returns false if the connection failed.
static bool wait_returned(struct echo *echo, uint64_t count) {
    pthread_mutex_lock(&echo->lock);
    while (echo->returned < count && !echo->failed) pthread_cond_wait(&echo->changed, &echo->lock);
    bool good = !echo->failed;
    pthread_mutex_unlock(&echo->lock);
    return good;
}

static bool echo_from_caller(struct echo *echo) {
    pthread_mutex_lock(&echo->lock);
    while (!echo->subscribed && !echo->failed) pthread_cond_wait(&echo->changed, &echo->lock);
    bool good = !echo->failed;
    pthread_mutex_unlock(&echo->lock);
    while (good && echo->done < echo->count) {
        send_one(echo);
        good = wait_returned(echo, echo->done + 1);
        echo->nanoseconds[echo->done++] = now() - echo->sent_at;
    }
    return good;
}

bool mosquitto_echo(
    uint16_t port, const char *topic, int payload_size, bool from_caller, uint64_t count, uint64_t *nanoseconds) {
    struct echo echo = {
        .topic = topic, .payload = calloc(1, (size_t)payload_size), .payload_size = payload_size,
        .from_caller = from_caller, .count = count, .nanoseconds = nanoseconds,
    };
    pthread_mutex_init(&echo.lock, NULL);
    pthread_cond_init(&echo.changed, NULL);
    mosquitto_lib_init();
    echo.client = mosquitto_new("bench-echo", true, &echo);
    bool good = echo.payload && echo.client;
    if (good) {
        mosquitto_int_option(echo.client, MOSQ_OPT_TCP_NODELAY, 1);
        mosquitto_connect_callback_set(echo.client, on_connect);
        mosquitto_disconnect_callback_set(echo.client, on_disconnect);
        mosquitto_subscribe_callback_set(echo.client, on_subscribe);
        mosquitto_message_callback_set(echo.client, on_message);
        good = mosquitto_connect(echo.client, "127.0.0.1", port, 60) == MOSQ_ERR_SUCCESS
            && mosquitto_loop_start(echo.client) == MOSQ_ERR_SUCCESS;
        if (good) {
            good = from_caller ? echo_from_caller(&echo) : wait_returned(&echo, 1);
            mosquitto_disconnect(echo.client);
            mosquitto_loop_stop(echo.client, false);
        }
        mosquitto_destroy(echo.client);
    }
    mosquitto_lib_cleanup();
    free(echo.payload);
    pthread_cond_destroy(&echo.changed);
    pthread_mutex_destroy(&echo.lock);
    return good;
}
