#include "protobuf_peer.h"

#include <stdlib.h>

#include "reading.pb-c.h"

protobuf_peer *protobuf_peer_make(const uint8_t *bytes, size_t count) {
    return (protobuf_peer *)readings__unpack(NULL, count, bytes);
}

size_t protobuf_peer_encode(const protobuf_peer *peer) {
    const Readings *readings = (const Readings *)peer;
    uint8_t *bytes = malloc(readings__get_packed_size(readings));
    size_t size = readings__pack(readings, bytes);
    free(bytes);
    return size;
}

size_t protobuf_peer_decode(const uint8_t *bytes, size_t count) {
    Readings *readings = readings__unpack(NULL, count, bytes);
    size_t number = readings->n_readings;
    readings__free_unpacked(readings, NULL);
    return number;
}

size_t protobuf_peer_encode_one(const protobuf_peer *peer) {
    const Reading *reading = ((const Readings *)peer)->readings[0];
    uint8_t *bytes = malloc(reading__get_packed_size(reading));
    size_t size = reading__pack(reading, bytes);
    free(bytes);
    return size;
}

size_t protobuf_peer_decode_one(const uint8_t *bytes, size_t count) {
    Reading *reading = reading__unpack(NULL, count, bytes);
    size_t quality = (size_t)reading->quality;
    reading__free_unpacked(reading, NULL);
    return quality;
}
