#define _GNU_SOURCE
#include "sink_private.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// The responses to all packets of one read are sent with one write. A write has the responses first, then one or two
// runs of prebuilt messages, which are never copied.

enum {
    largest_read = 256 * 1024,
    largest_packet = 256 * 1024,
    input_capacity = largest_read + largest_packet + 8,
    /// No response is longer than its request, so the responses to one full input buffer always fit.
    answers_capacity = 2 * input_capacity,
    /// The approximate size of the prebuilt messages that one write sends at QoS 0.
    block_size = 256 * 1024,
    /// The property identifier, then the name `key1` and the value `value1`, each with its length.
    user_property_size = 1 + 2 + 4 + 2 + 6,
};

enum packet_type {
    connect_type = 1, publish_type = 3, puback_type, pubrec_type, pubrel_type, pubcomp_type, subscribe_type = 8,
    unsubscribe_type = 10, pingreq_type = 12, disconnect_type = 14,
};

/// The state of a message that was sent with a packet id.
enum slot { slot_free, slot_published, slot_released };

struct answers {
    size_t used;
    uint8_t bytes[answers_capacity];
};

struct connection {
    struct sink *sink;
    struct sink_plan plan;
    int socket;
    int level;
    bool subscribed, ended;
    uint64_t through;

    size_t buffered;
    uint8_t input[input_capacity];

    struct answers answers[2];
    int filling;

    struct iovec parts[3];
    int first_part, part_count;

    /// Prebuilt messages, one after the other. At QoS 1 and 2, the message at index n has the packet id n + 1.
    uint8_t *block;
    size_t block_capacity, message_size;
    uint32_t block_messages;
    uint64_t unsent;
    uint32_t next_slot;
    uint8_t slots[65536];
};

// MARK: - Errors and progress

static void tell(struct sink *sink) {
    char byte = 0;
    if (write(sink->news_writer, &byte, 1) < 0) return;
}

static void complain(struct connection *c, const char *complaint) {
    if (c->ended) return;
    c->ended = true;
    atomic_store(&c->sink->complaint, complaint);
    tell(c->sink);
}

static void publish_count(struct connection *c) {
    uint64_t before = atomic_load_explicit(&c->sink->count, memory_order_relaxed);
    if (c->through == before) return;
    atomic_store(&c->sink->count, c->through);
    if (before < c->plan.messages && c->through >= c->plan.messages) tell(c->sink);
}

// MARK: - Bytes

static inline uint16_t read_two(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }

/// Reads a variable byte integer. Returns its size in bytes, 0 if it is incomplete, or -1 if it is malformed.
static inline int read_length(const uint8_t *bytes, size_t size, size_t *value) {
    size_t result = 0;
    for (int i = 0; i < 4; i++) {
        if ((size_t)i >= size) return 0;
        result |= (size_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            *value = result;
            return i + 1;
        }
    }
    return -1;
}

static size_t write_length(uint8_t *bytes, size_t value) {
    size_t used = 0;
    do {
        uint8_t digit = value & 0x7f;
        value >>= 7;
        bytes[used++] = digit | (value ? 0x80 : 0);
    } while (value);
    return used;
}

static inline uint8_t *answer(struct connection *c, size_t size) {
    struct answers *answers = &c->answers[c->filling];
    if (answers_capacity - answers->used < size) {
        complain(c, "asked for more answers than it read");
        return NULL;
    }
    uint8_t *bytes = answers->bytes + answers->used;
    answers->used += size;
    return bytes;
}

static inline void answer_id(struct connection *c, uint8_t header, uint16_t id) {
    uint8_t *bytes = answer(c, 4);
    if (!bytes) return;
    bytes[0] = header;
    bytes[1] = 2;
    bytes[2] = (uint8_t)(id >> 8);
    bytes[3] = (uint8_t)id;
}

// MARK: - Messages to send

/// Builds the messages. Called when the protocol version is known.
static bool prepare_block(struct connection *c) {
    size_t topic = strlen(c->plan.topic);
    size_t properties = c->level == 5 ? (size_t)c->plan.user_properties * user_property_size : 0;
    size_t length = 2 + topic + (c->plan.qos > 0 ? 2 : 0) + (c->level == 5 ? 1 : 0) + properties + c->plan.payload_size;
    if (topic > 65535 || length > largest_packet) return false;
    uint8_t digits[4];
    size_t header = 1 + write_length(digits, length);
    c->message_size = header + length;
    c->block_messages = c->plan.window;
    if (c->plan.qos == 0) {
        c->block_messages = (uint32_t)(block_size / c->message_size);
        if (c->block_messages == 0) c->block_messages = 1;
    }
    if (c->block) munmap(c->block, c->block_capacity);
    c->block_capacity = c->message_size * c->block_messages;
    c->block = mmap(NULL, c->block_capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->block == MAP_FAILED) {
        c->block = NULL;
        return false;
    }
    uint8_t *bytes = c->block;
    for (uint32_t i = 0; i < c->block_messages; i++) {
        *bytes++ = (uint8_t)(0x30 | c->plan.qos << 1);
        bytes += write_length(bytes, length);
        *bytes++ = (uint8_t)(topic >> 8);
        *bytes++ = (uint8_t)topic;
        memcpy(bytes, c->plan.topic, topic);
        bytes += topic;
        if (c->plan.qos > 0) {
            *bytes++ = (uint8_t)((i + 1) >> 8);
            *bytes++ = (uint8_t)(i + 1);
        }
        if (c->level == 5) *bytes++ = (uint8_t)properties;
        for (size_t written = 0; written < properties; written += user_property_size) {
            memcpy(bytes, "\x26\0\4key1\0\6value1", user_property_size);
            bytes[6] = bytes[14] = (uint8_t)('1' + written / user_property_size);
            bytes += user_property_size;
        }
        memset(bytes, 'a', c->plan.payload_size);
        bytes += c->plan.payload_size;
    }
    return true;
}

static void add_part(struct connection *c, void *bytes, size_t size) {
    c->parts[c->part_count++] = (struct iovec){bytes, size};
}

/// Adds the messages of the next free slots to the output, up to the first slot that is in use.
static void add_free_slots(struct connection *c) {
    uint32_t start = c->next_slot, end = start;
    while (end < c->block_messages && c->unsent > 0 && c->slots[end] == slot_free) {
        c->slots[end++] = slot_published;
        c->unsent--;
    }
    if (end == start) return;
    add_part(c, c->block + start * c->message_size, (end - start) * c->message_size);
    c->next_slot = end == c->block_messages ? 0 : end;
}

static void add_messages(struct connection *c) {
    if (c->plan.qos > 0) {
        add_free_slots(c);
        if (c->next_slot == 0) add_free_slots(c);
        return;
    }
    uint64_t count = c->unsent < c->block_messages ? c->unsent : c->block_messages;
    if (count > 0) add_part(c, c->block, count * c->message_size);
    c->unsent -= count;
}

/// Collects the next output. Does nothing until all earlier output is written.
static void collect_output(struct connection *c) {
    if (c->part_count > 0) return;
    if (c->plan.floods && c->plan.qos == 0 && c->subscribed && c->unsent == 0) {
        c->through = c->plan.messages;
        publish_count(c);
    }
    struct answers *answers = &c->answers[c->filling];
    if (answers->used > 0) {
        add_part(c, answers->bytes, answers->used);
        c->filling = 1 - c->filling;
        c->answers[c->filling].used = 0;
    }
    if (c->subscribed && c->unsent > 0) add_messages(c);
}

// MARK: - Received packets

static void handle_connect(struct connection *c, const uint8_t *body, size_t length) {
    static const uint8_t name[] = {0, 4, 'M', 'Q', 'T', 'T'};
    if (c->level != 0) return complain(c, "CONNECT came twice");
    if (length < 10 || memcmp(body, name, sizeof name) != 0) return complain(c, "CONNECT names another protocol");
    if (body[6] != 4 && body[6] != 5) return complain(c, "CONNECT asks for a version other than 3.1.1 and 5.0");
    c->level = body[6];
    uint8_t *bytes = answer(c, c->level == 5 ? 5 : 4);
    if (!bytes) return;
    memcpy(bytes, (uint8_t[]){0x20, 2, 0, 0}, 4);
    if (c->level == 5) {
        bytes[1] = 3;
        bytes[4] = 0;
    }
    if (c->plan.floods && !prepare_block(c)) complain(c, "the messages to send are too large");
}

static void handle_subscribe(struct connection *c, const uint8_t *body, size_t length) {
    size_t at = 2, properties = 0, filters = 0;
    if (length < 2) return complain(c, "SUBSCRIBE is cut short");
    if (c->level == 5) {
        int digits = read_length(body + at, length - at, &properties);
        if (digits <= 0 || properties > length - at - (size_t)digits) return complain(c, "SUBSCRIBE is cut short");
        at += (size_t)digits + properties;
    }
    for (; at < length; filters++) {
        if (length - at < 3 || length - at - 3 < read_two(body + at)) return complain(c, "SUBSCRIBE is cut short");
        at += 3 + (size_t)read_two(body + at);
        if ((body[at - 1] & 3) != c->plan.qos) return complain(c, "SUBSCRIBE asks for another QoS");
    }
    size_t answer_length = 2 + (c->level == 5 ? 1 : 0) + filters;
    if (filters == 0 || filters > 100) return complain(c, "SUBSCRIBE has no topic filter, or more than 100");
    uint8_t *bytes = answer(c, 2 + answer_length);
    if (!bytes) return;
    *bytes++ = 0x90;
    *bytes++ = (uint8_t)answer_length;
    *bytes++ = body[0];
    *bytes++ = body[1];
    if (c->level == 5) *bytes++ = 0;
    memset(bytes, c->plan.qos, filters);
    if (c->plan.floods && !c->subscribed) c->unsent = c->plan.messages;
    c->subscribed = c->plan.floods;
}

static void handle_unsubscribe(struct connection *c, const uint8_t *body, size_t length) {
    if (length < 2) return complain(c, "UNSUBSCRIBE is cut short");
    if (c->level != 5) return answer_id(c, 0xb0, read_two(body));
    size_t at = 2, properties = 0, filters = 0;
    int digits = read_length(body + at, length - at, &properties);
    if (digits <= 0 || properties > length - at - (size_t)digits) return complain(c, "UNSUBSCRIBE is cut short");
    for (at += (size_t)digits + properties; at < length; filters++) {
        if (length - at < 2 || length - at - 2 < read_two(body + at)) return complain(c, "UNSUBSCRIBE is cut short");
        at += 2 + (size_t)read_two(body + at);
    }
    if (filters == 0 || filters > 100) return complain(c, "UNSUBSCRIBE has no topic filter, or more than 100");
    uint8_t *bytes = answer(c, 2 + 3 + filters);
    if (!bytes) return;
    *bytes++ = 0xb0;
    *bytes++ = (uint8_t)(3 + filters);
    *bytes++ = body[0];
    *bytes++ = body[1];
    memset(bytes, 0, 1 + filters);
}

static inline void handle_publish(struct connection *c, uint8_t header, const uint8_t *body, size_t length) {
    int qos = header >> 1 & 3;
    if (qos != c->plan.qos) return complain(c, "PUBLISH has another QoS");
    if (length < 2) return complain(c, "PUBLISH is cut short");
    size_t at = 2 + (size_t)read_two(body);
    uint16_t id = 0;
    if (at + 2 > length && (qos > 0 || at > length)) return complain(c, "PUBLISH is cut short");
    if (qos > 0) {
        id = read_two(body + at);
        at += 2;
        if (id == 0) return complain(c, "PUBLISH has the packet id 0");
    }
    if (c->level == 5) {
        size_t properties;
        int digits = read_length(body + at, length - at, &properties);
        if (digits <= 0 || properties > length - at - (size_t)digits) return complain(c, "PUBLISH is cut short");
        if (properties < (size_t)c->plan.user_properties * user_property_size)
            return complain(c, "PUBLISH lacks user properties");
        at += (size_t)digits + properties;
    } else if (c->plan.user_properties > 0) {
        return complain(c, "PUBLISH of MQTT 3.1.1 has no user properties");
    }
    if (length - at != c->plan.payload_size) return complain(c, "PUBLISH has a payload of another size");
    if (qos < 2) c->through++;
    if (qos > 0) answer_id(c, qos == 1 ? 0x40 : 0x50, id);
}

static inline void handle_ack(struct connection *c, enum packet_type type, const uint8_t *body, size_t length) {
    if (length < 2 || (length > 2 && body[2] >= 0x80)) return complain(c, "an acknowledgement is cut short or refuses");
    uint16_t id = read_two(body);
    if (!c->plan.floods) {
        if (type != pubrel_type || c->plan.qos != 2) return complain(c, "an acknowledgement nobody waits for");
        c->through++;
        return answer_id(c, 0x70, id);
    }
    if (id == 0 || id > c->block_messages) return complain(c, "an acknowledgement of a message that was not sent");
    uint8_t *slot = &c->slots[id - 1];
    enum packet_type wanted =
        *slot == slot_released ? pubcomp_type : c->plan.qos == 1 ? puback_type : pubrec_type;
    if (*slot == slot_free || type != wanted) return complain(c, "an acknowledgement nobody waits for");
    if (type == pubrec_type) {
        *slot = slot_released;
        return answer_id(c, 0x62, id);
    }
    *slot = slot_free;
    c->through++;
}

static inline void handle(struct connection *c, uint8_t header, const uint8_t *body, size_t length) {
    enum packet_type type = header >> 4;
    if (c->level == 0 && type != connect_type) return complain(c, "the first packet is not CONNECT");
    switch (type) {
    case publish_type: return handle_publish(c, header, body, length);
    case puback_type: case pubrec_type: case pubrel_type: case pubcomp_type: return handle_ack(c, type, body, length);
    case connect_type: return handle_connect(c, body, length);
    case subscribe_type: return handle_subscribe(c, body, length);
    case unsubscribe_type: return handle_unsubscribe(c, body, length);
    case pingreq_type: {
        uint8_t *bytes = answer(c, 2);
        if (bytes) memcpy(bytes, (uint8_t[]){0xd0, 0}, 2);
        return;
    }
    case disconnect_type: c->ended = true; return;
    default: return complain(c, "a packet that no client sends");
    }
}

/// Handles every complete packet in the input, and keeps the rest.
static void handle_input(struct connection *c) {
    const uint8_t *bytes = c->input;
    size_t at = 0;
    while (!c->ended && c->buffered - at >= 2) {
        size_t length = bytes[at + 1];
        int digits = 1;
        if (length >= 0x80) {
            digits = read_length(bytes + at + 1, c->buffered - at - 1, &length);
            if (digits < 0) return complain(c, "a malformed length");
            if (digits == 0) break;
        }
        size_t header = 1 + (size_t)digits;
        if (length > largest_packet) return complain(c, "a packet that is too large for the sink");
        if (c->buffered - at - header < length) break;
        handle(c, bytes[at], bytes + at + header, length);
        at += header + length;
    }
    if (at > 0 && at < c->buffered) memmove(c->input, c->input + at, c->buffered - at);
    c->buffered -= at;
    publish_count(c);
}

// MARK: - Socket

static bool can_read(const struct connection *c) {
    return answers_capacity - c->answers[c->filling].used >= input_capacity;
}

/// Reads once. Returns true if any bytes were read.
static bool read_some(struct connection *c) {
    if (!can_read(c)) return false;
    ssize_t count = recv(c->socket, c->input + c->buffered, largest_read, 0);
    if (count > 0) {
        c->buffered += (size_t)count;
        handle_input(c);
        return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) c->ended = true;
    return false;
}

/// Writes once. Returns true if any bytes were written.
static bool write_some(struct connection *c) {
    collect_output(c);
    if (c->part_count == 0) return false;
    ssize_t count = writev(c->socket, c->parts + c->first_part, c->part_count - c->first_part);
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) c->ended = true;
        return false;
    }
    size_t left = (size_t)count;
    while (c->first_part < c->part_count) {
        struct iovec *part = &c->parts[c->first_part];
        size_t taken = left < part->iov_len ? left : part->iov_len;
        part->iov_base = (uint8_t *)part->iov_base + taken;
        part->iov_len -= taken;
        left -= taken;
        if (part->iov_len > 0) return true;
        c->first_part++;
    }
    c->first_part = c->part_count = 0;
    return true;
}

/// Waits until the socket is ready for `events`. Exits if the process that started the sink has ended.
static void wait_for(struct sink *sink, int socket, short events) {
    struct pollfd files[] = {{.fd = socket, .events = events}, {.fd = sink->life_reader}};
    if (poll(files, 2, -1) > 0 && files[1].revents != 0) _exit(0);
}

static void serve_connection(struct connection *c) {
    while (!c->ended) {
        bool wrote = write_some(c);
        bool read = !c->ended && read_some(c);
        if (wrote || read || c->ended) continue;
        wait_for(c->sink, c->socket, (short)((can_read(c) ? POLLIN : 0) | (c->part_count > 0 ? POLLOUT : 0)));
    }
}

static void start_connection(struct connection *c, int socket) {
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->socket = socket;
    c->level = 0;
    c->subscribed = c->ended = false;
    c->buffered = 0;
    c->answers[0].used = c->answers[1].used = 0;
    c->first_part = c->part_count = 0;
    c->unsent = 0;
    c->next_slot = 0;
    memset(c->slots, slot_free, sizeof c->slots);
}

_Noreturn void sink_serve(struct sink *sink, int listener) {
    struct connection *c =
        mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (c == MAP_FAILED) _exit(1);
    c->sink = sink;
    c->plan = sink->plan;
    for (;;) {
        wait_for(sink, listener, POLLIN);
        int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) continue;
        start_connection(c, socket);
        serve_connection(c);
        close(socket);
    }
}
