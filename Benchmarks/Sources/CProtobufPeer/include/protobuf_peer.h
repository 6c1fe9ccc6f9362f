#pragma once
#include <stddef.h>
#include <stdint.h>

// Uses libprotobuf-c directly with the C structs of protoc-c. No library on top of libprotobuf-c can be faster.

/// A message that stays in memory as C structs.
typedef struct protobuf_peer protobuf_peer;

/// Creates C structs from an encoded Readings message. Returns NULL if the bytes are not such a message.
protobuf_peer *protobuf_peer_make(const uint8_t *bytes, size_t count);

/// Encodes the structs into a new block of memory, and frees the block. Returns its size.
size_t protobuf_peer_encode(const protobuf_peer *peer);

/// Decodes a Readings message into new structs, and frees them. Returns the number of readings.
size_t protobuf_peer_decode(const uint8_t *bytes, size_t count);

/// Encodes only the first Reading of the message, like `protobuf_peer_encode`.
size_t protobuf_peer_encode_one(const protobuf_peer *peer);

/// Decodes one Reading, like `protobuf_peer_decode`. Returns its quality.
size_t protobuf_peer_decode_one(const uint8_t *bytes, size_t count);
