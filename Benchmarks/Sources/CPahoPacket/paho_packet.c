#include "paho_packet.h"
#include <MQTTClient.h>
#include <string.h>

extern int Heap_initialize(void);
extern int MQTTPacket_encode(char *buffer, size_t length);
extern void writeChar(char **position, char value);
extern void writeInt(char **position, int value);
extern void writeUTF(char **position, const char *text);
extern void writeData(char **position, const void *data, int size);
extern int MQTTProperties_write(char **position, const MQTTProperties *properties);
extern void *MQTTPacket_publish(int version, unsigned char header, char *data, size_t size);
extern void MQTTPacket_freePublish(void *publish);

/// The first fields of Paho's private struct for a received PUBLISH, up to the payload size.
struct paho_publish {
    unsigned char header;
    char *topic;
    int topic_size;
    int packet_id;
    char *payload;
    int payload_size;
};

static MQTTProperties publish_properties = MQTTProperties_initializer;
static MQTTProperties subscribe_properties = MQTTProperties_initializer;
static MQTTProperties connect_properties = MQTTProperties_initializer;

static void add_text(MQTTProperties *list, enum MQTTPropertyCodes id, char *value) {
    MQTTProperty property = {.identifier = id};
    property.value.data = (MQTTLenString){(int)strlen(value), value};
    MQTTProperties_add(list, &property);
}

static void add_number(MQTTProperties *list, enum MQTTPropertyCodes id, unsigned int value) {
    MQTTProperty property = {.identifier = id};
    if (id == MQTTPROPERTY_CODE_RECEIVE_MAXIMUM)
        property.value.integer2 = (unsigned short)value;
    else
        property.value.integer4 = value;
    MQTTProperties_add(list, &property);
}

static void add_user_property(MQTTProperties *list, char *name, char *value) {
    MQTTProperty property = {.identifier = MQTTPROPERTY_CODE_USER_PROPERTY};
    property.value.data = (MQTTLenString){(int)strlen(name), name};
    property.value.value = (MQTTLenString){(int)strlen(value), value};
    MQTTProperties_add(list, &property);
}

void paho_setup(void) {
    Heap_initialize();
    add_text(&publish_properties, MQTTPROPERTY_CODE_CONTENT_TYPE, "text/plain");
    add_user_property(&publish_properties, "trace", "7f3a");
    add_user_property(&subscribe_properties, "trace", "7f3a");
    add_number(&connect_properties, MQTTPROPERTY_CODE_SESSION_EXPIRY_INTERVAL, 3600);
    add_number(&connect_properties, MQTTPROPERTY_CODE_RECEIVE_MAXIMUM, 100);
    add_user_property(&connect_properties, "trace", "7f3a");
}

size_t paho_encode_publish(
    char *buffer, int version, const char *topic, const void *payload, size_t payload_size, int qos, int packet_id,
    int with_properties) {
    static MQTTProperties none = MQTTProperties_initializer;
    MQTTProperties *properties = with_properties ? &publish_properties : &none;
    size_t size = 2 + strlen(topic) + (qos > 0 ? 2 : 0) + payload_size;
    if (version >= MQTTVERSION_5) size += (size_t)MQTTProperties_len(properties);
    char *position = buffer;
    writeChar(&position, (char)(0x30 | qos << 1));
    position += MQTTPacket_encode(position, size);
    writeUTF(&position, topic);
    if (qos > 0) writeInt(&position, packet_id);
    if (version >= MQTTVERSION_5) MQTTProperties_write(&position, properties);
    memcpy(position, payload, payload_size);
    return (size_t)(position - buffer) + payload_size;
}

size_t paho_decode_publish(char *packet, size_t size, int version) {
    size_t offset = 1;
    while (packet[offset++] & 0x80) {}
    struct paho_publish *publish =
        MQTTPacket_publish(version, (unsigned char)packet[0], packet + offset, size - offset);
    if (!publish) return 0;
    size_t payload_size = (size_t)publish->payload_size;
    MQTTPacket_freePublish(publish);
    return payload_size;
}

size_t paho_encode_subscribe(char *buffer, const char *filter, int qos, int packet_id) {
    size_t size = 2 + (size_t)MQTTProperties_len(&subscribe_properties) + 2 + strlen(filter) + 1;
    char *position = buffer;
    writeChar(&position, (char)0x82);
    position += MQTTPacket_encode(position, size);
    writeInt(&position, packet_id);
    MQTTProperties_write(&position, &subscribe_properties);
    writeUTF(&position, filter);
    writeChar(&position, (char)qos);
    return (size_t)(position - buffer);
}

size_t paho_encode_connect(char *buffer, const char *client_id, const char *username, const char *password) {
    size_t size = 10 + (size_t)MQTTProperties_len(&connect_properties) + 2 + strlen(client_id) + 2 + strlen(username)
        + 2 + strlen(password);
    char *position = buffer;
    writeChar(&position, 0x10);
    position += MQTTPacket_encode(position, size);
    writeUTF(&position, "MQTT");
    writeChar(&position, MQTTVERSION_5);
    writeChar(&position, (char)0xC2);
    writeInt(&position, 60);
    MQTTProperties_write(&position, &connect_properties);
    writeUTF(&position, client_id);
    writeUTF(&position, username);
    writeData(&position, password, (int)strlen(password));
    return (size_t)(position - buffer);
}
