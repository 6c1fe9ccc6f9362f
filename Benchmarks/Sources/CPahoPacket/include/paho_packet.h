#pragma once
#include <stddef.h>
#include <stdint.h>

// The packet functions of Paho's C client, called in the same way as the client calls them. They are not in its public
// headers, but the static library of the package libpaho-mqtt-dev contains them.

/// Prepares Paho's own heap. Call it once.
void paho_setup(void);

/// Writes a PUBLISH into `buffer`; `with_properties` adds a content type and a user property. Returns its size.
size_t paho_encode_publish(
    char *buffer, int version, const char *topic, const void *payload, size_t payload_size, int qos, int packet_id,
    int with_properties);

/// Decodes the PUBLISH in `packet`, and frees the decoded struct. Returns the size of the payload.
size_t paho_decode_publish(char *packet, size_t size, int version);

/// Writes a SUBSCRIBE with one filter and a user property. Returns its size.
size_t paho_encode_subscribe(char *buffer, const char *filter, int qos, int packet_id);

/// Writes an MQTT 5 CONNECT with a session expiry, a receive maximum and a user property. Returns its size.
size_t paho_encode_connect(char *buffer, const char *client_id, const char *username, const char *password);
