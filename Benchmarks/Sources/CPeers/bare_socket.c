#include "bare_socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { input_capacity = 256 * 1024, messages_per_write = 2048 };

struct bare_socket {
    struct peer_plan plan;
    size_t topic_size, message_size;
    int socket;
    /// Two halves of prebuilt messages. At QoS 1 and 2, their packet ids are 1, 2, 3 and so on.
    uint8_t *block;
    size_t half;
    uint64_t received, received_bytes, completed;
    size_t buffered;
    uint8_t input[input_capacity], answers[input_capacity];
};

static bool write_all(struct bare_socket *bare, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = send(bare->socket, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/// Counts one packet, and writes its response to `answer`. Returns the size of the response, or -1 for an unexpected
/// packet.
static int handle(struct bare_socket *bare, const uint8_t *packet, size_t header, size_t size, uint8_t *answer) {
    const uint8_t *id = packet + header;
    uint8_t type = 0;
    switch (packet[0] & 0xf0) {
    case 0x20: case 0x90: return 0;  // CONNACK, SUBACK
    case 0x30: {
        size_t skipped = header + 2 + bare->topic_size;
        id = packet + skipped;
        if (bare->plan.qos > 0) skipped += 2;
        if (skipped > size) return -1;
        if (bare->plan.qos < 2) bare->received++;
        bare->received_bytes += size - skipped;
        if (bare->plan.qos == 0) return 0;
        type = bare->plan.qos == 1 ? 0x40 : 0x50;
        break;
    }
    case 0x40: case 0x70: bare->completed++; return 0;
    case 0x50: type = 0x62; break;
    case 0x60: type = 0x70; bare->received++; break;
    default: return -1;
    }
    if (size < header + 2) return -1;
    memcpy(answer, (uint8_t[]){type, 2, id[0], id[1]}, 4);
    return 4;
}

/// Reads once, handles every complete packet, and writes the responses.
static bool read_some(struct bare_socket *bare) {
    ssize_t count = recv(bare->socket, bare->input + bare->buffered, input_capacity - bare->buffered, 0);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    bare->buffered += (size_t)count;
    size_t at = 0, answered = 0;
    while (bare->buffered - at >= 2) {
        const uint8_t *packet = bare->input + at;
        size_t header = packet[1] < 0x80 ? 2 : 3, length = packet[1];
        if (header == 3) {
            if (bare->buffered - at < 3) break;
            if (packet[2] >= 0x80) return false;  // The sink sends nothing that long.
            length = (length & 0x7f) | (size_t)packet[2] << 7;
        }
        if (bare->buffered - at - header < length) break;
        int size = handle(bare, packet, header, header + length, bare->answers + answered);
        if (size < 0) return false;
        answered += (size_t)size;
        at += header + length;
    }
    memmove(bare->input, bare->input + at, bare->buffered - at);
    bare->buffered -= at;
    return write_all(bare, bare->answers, answered);
}

static bool prepare_block(struct bare_socket *bare) {
    size_t length = 2 + bare->topic_size + (bare->plan.qos > 0 ? 2 : 0) + bare->plan.payload_size;
    if (length >= 16384) return false;
    size_t header = length < 128 ? 2 : 3;
    bare->message_size = header + length;
    bare->half = bare->plan.qos > 0 ? (size_t)bare->plan.window / 2 : messages_per_write;
    bare->block = malloc(2 * bare->half * bare->message_size);
    if (!bare->block || bare->half == 0) return false;
    uint8_t *bytes = bare->block;
    for (size_t id = 1; id <= 2 * bare->half; id++) {
        *bytes++ = (uint8_t)(0x30 | bare->plan.qos << 1);
        *bytes++ = header == 2 ? (uint8_t)length : (uint8_t)(length | 0x80);
        if (header == 3) *bytes++ = (uint8_t)(length >> 7);
        *bytes++ = (uint8_t)(bare->topic_size >> 8);
        *bytes++ = (uint8_t)bare->topic_size;
        memcpy(bytes, bare->plan.topic, bare->topic_size);
        bytes += bare->topic_size;
        if (bare->plan.qos > 0) {
            *bytes++ = (uint8_t)(id >> 8);
            *bytes++ = (uint8_t)id;
        }
        memset(bytes, 'a', bare->plan.payload_size);
        bytes += bare->plan.payload_size;
    }
    return true;
}

struct bare_socket *bare_socket_connect(const struct peer_plan *plan) {
    static const uint8_t connect_packet[] = {0x10, 16, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 4, 'b', 'a', 'r', 'e'};
    struct bare_socket *bare = calloc(1, sizeof *bare);
    if (!bare) return NULL;
    bare->plan = *plan;
    bare->topic_size = strlen(plan->topic);
    bare->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(bare->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(plan->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(bare->socket, (struct sockaddr *)&address, sizeof address) == 0 && prepare_block(bare)
        && write_all(bare, connect_packet, sizeof connect_packet) && read_some(bare))
        return bare;
    bare_socket_close(bare);
    return NULL;
}

bool bare_socket_publish(struct bare_socket *bare, uint64_t count) {
    uint64_t sent = 0;
    for (bool second = false; sent < count || (bare->plan.qos > 0 && bare->completed < count);) {
        uint64_t next = count - sent < bare->half ? count - sent : bare->half;
        bool has_room = bare->plan.qos == 0 || sent + bare->half <= bare->completed + 2 * bare->half;
        if (next == 0 || !has_room) {
            if (!read_some(bare)) return false;
            continue;
        }
        const uint8_t *bytes = bare->block + (second ? bare->half * bare->message_size : 0);
        if (!write_all(bare, bytes, next * bare->message_size)) return false;
        sent += next;
        second = !second;
    }
    return true;
}

uint64_t bare_socket_receive(struct bare_socket *bare, uint64_t count) {
    uint8_t packet[256] = {0x82, (uint8_t)(5 + bare->topic_size), 0, 1, 0, (uint8_t)bare->topic_size};
    if (bare->topic_size > 100) return 0;
    memcpy(packet + 6, bare->plan.topic, bare->topic_size);
    packet[6 + bare->topic_size] = (uint8_t)bare->plan.qos;
    if (!write_all(bare, packet, 7 + bare->topic_size)) return 0;
    while (bare->received < count)
        if (!read_some(bare)) return 0;
    return bare->received_bytes;
}

void bare_socket_close(struct bare_socket *bare) {
    if (bare->socket >= 0) close(bare->socket);
    free(bare->block);
    free(bare);
}
