#pragma once
#include <stddef.h>
#include <stdint.h>

// libprotobuf-c with the C structs of protoc-c and nothing else: the floor for every binding to it.

/// A message that stays in memory as C structs.
typedef struct protobuf_peer protobuf_peer;

/// Makes C structs of a Readings message; NULL if the bytes are none.
protobuf_peer *protobuf_peer_make(const uint8_t *bytes, size_t count);

/// Writes the structs into a new block of memory and frees it. Returns the size.
size_t protobuf_peer_encode(const protobuf_peer *peer);

/// Reads a Readings message into new structs and frees them. Returns the number of readings.
size_t protobuf_peer_decode(const uint8_t *bytes, size_t count);

/// The same with the first Reading of the message alone.
size_t protobuf_peer_encode_one(const protobuf_peer *peer);

/// The same with one Reading. Returns its quality.
size_t protobuf_peer_decode_one(const uint8_t *bytes, size_t count);
