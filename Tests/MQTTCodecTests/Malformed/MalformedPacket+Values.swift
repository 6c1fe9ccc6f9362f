import MQTTCodec

extension MalformedPacket {
    /// Packet id 0 in every packet that has one.
    static let packetIDs: [MalformedPacket] = [
        MalformedPacket(
            "a QoS 1 PUBLISH with packet id 0", .v5, .client, "32 06 00 01 61 00 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "a QoS 2 PUBLISH with packet id 0", .v5, .server, "34 06 00 01 61 00 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.2.1-4]"),
        MalformedPacket(
            "a PUBACK with packet id 0", .v5, .server, "40 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBREC with packet id 0", .v5, .server, "50 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBREL with packet id 0", .v5, .server, "62 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBCOMP with packet id 0", .v5, .server, "70 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a SUBSCRIBE with packet id 0", .v5, .client, "82 07 00 00 00 00 01 61 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "a SUBACK with packet id 0", .v5, .server, "90 04 00 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-6]"),
        MalformedPacket(
            "an UNSUBSCRIBE with packet id 0", .v5, .client, "A2 06 00 00 00 00 01 61",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "an UNSUBACK with packet id 0", .v5, .server, "B0 04 00 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-6]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1.1 with packet id 0", .v311, .client, "32 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a QoS 2 PUBLISH of 3.1.1 with packet id 0", .v311, .server, "34 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a PUBACK of 3.1.1 with packet id 0", .v311, .server, "40 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBREC of 3.1.1 with packet id 0", .v311, .server, "50 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBREL of 3.1.1 with packet id 0", .v311, .server, "62 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBCOMP of 3.1.1 with packet id 0", .v311, .server, "70 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "2.3.1"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 with packet id 0", .v311, .client, "82 06 00 00 00 01 61 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with packet id 0", .v311, .server, "90 03 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-7]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 with packet id 0", .v311, .client, "A2 05 00 00 00 01 61",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 with packet id 0", .v311, .server, "B0 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-7]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1 with packet id 0", .v31, .client, "32 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1] of 3.1.1"),
        MalformedPacket(
            "a QoS 2 PUBLISH of 3.1 with packet id 0", .v31, .server, "34 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1] of 3.1.1"),
    ]

    /// QoS 3, a forbidden DUP flag, and invalid subscription options.
    static let qualitiesOfService: [MalformedPacket] = [
        MalformedPacket(
            "a PUBLISH of QoS 3", .v5, .client, "36 06 00 01 61 00 01 00",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of QoS 3 with DUP and RETAIN", .v5, .server, "3F 06 00 01 61 00 01 00",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 of QoS 3", .v311, .client, "36 05 00 01 61 00 01",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of 3.1 of QoS 3", .v31, .server, "36 05 00 01 61 00 01",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4] of 3.1.1"),
        MalformedPacket(
            "a QoS 0 PUBLISH with DUP", .v5, .client, "38 04 00 01 61 00",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a retained QoS 0 PUBLISH with DUP", .v5, .client, "39 04 00 01 61 00",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a QoS 0 PUBLISH of 3.1.1 with DUP", .v311, .client, "38 03 00 01 61",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a will of QoS 3", .v5, .client, "10 14 00 04 4D 51 54 54 05 1E 00 3C 00 00 01 63 00 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-12]"),
        MalformedPacket(
            "a will of 3.1.1 of QoS 3", .v311, .client, "10 12 00 04 4D 51 54 54 04 1E 00 3C 00 01 63 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-14]"),
        MalformedPacket(
            "a will of 3.1 of QoS 3", .v31, .client,
            "10 14 00 06 4D 51 49 73 64 70 03 1E 00 3C 00 01 63 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 11, .malformedPacket, "[MQTT-3.1.2-14] of 3.1.1"),
        MalformedPacket(
            "a subscription of QoS 3", .v5, .client, "82 07 00 01 00 00 01 61 03",
            .invalidRequestedQoS, .subscriptionOptions, 8, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "a second subscription of QoS 3", .v5, .client, "82 0B 00 01 00 00 01 61 02 00 01 62 07",
            .invalidRequestedQoS, .subscriptionOptions, 12, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "a subscription of 3.1.1 of QoS 3", .v311, .client, "82 06 00 01 00 01 61 03",
            .invalidRequestedQoS, .subscriptionOptions, 7, .protocolError, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "subscription options 40", .v5, .client, "82 07 00 01 00 00 01 61 40",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "subscription options 80", .v5, .client, "82 07 00 01 00 00 01 61 80",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "subscription options C1", .v5, .client, "82 07 00 01 00 00 01 61 C1",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 04", .v311, .client, "82 06 00 01 00 01 61 04",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 08", .v311, .client, "82 06 00 01 00 01 61 08",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 11", .v311, .client, "82 06 00 01 00 01 61 11",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 80", .v311, .client, "82 06 00 01 00 01 61 80",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "retain handling 3", .v5, .client, "82 07 00 01 00 00 01 61 31",
            .invalidRetainHandling, .subscriptionOptions, 8, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "no-local on a shared subscription", .v5, .client, "82 10 00 01 00 00 0A 24 73 68 61 72 65 2F 67 2F 61 05",
            .noLocalOnSharedSubscription, .subscriptionOptions, 17, .protocolError, "[MQTT-3.8.3-4]"),
    ]

    /// Reason codes that do not exist, or that this packet or this sender may not use.
    static let reasonCodes: [MalformedPacket] = [
        MalformedPacket(
            "a CONNACK with code 01", .v5, .server, "20 03 00 01 00",
            .invalidReasonCode(0x01), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 04", .v5, .server, "20 03 00 04 00",
            .invalidReasonCode(0x04), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 18", .v5, .server, "20 03 00 18 00",
            .invalidReasonCode(0x18), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 7F", .v5, .server, "20 03 00 7F 00",
            .invalidReasonCode(0x7F), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 8B", .v5, .server, "20 03 00 8B 00",
            .invalidReasonCode(0x8B), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 8D", .v5, .server, "20 03 00 8D 00",
            .invalidReasonCode(0x8D), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 91", .v5, .server, "20 03 00 91 00",
            .invalidReasonCode(0x91), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code A2", .v5, .server, "20 03 00 A2 00",
            .invalidReasonCode(0xA2), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a PUBACK from a client that knows of no subscribers", .v5, .client, "40 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBREC from a client that knows of no subscribers", .v5, .client, "50 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBACK with code 01", .v5, .server, "40 03 00 01 01",
            .invalidReasonCode(0x01), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBACK with code 92", .v5, .server, "40 03 00 01 92",
            .invalidReasonCode(0x92), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBACK with code 9B", .v5, .server, "40 03 00 01 9B",
            .invalidReasonCode(0x9B), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBREC with code 02", .v5, .server, "50 04 00 01 02 00",
            .invalidReasonCode(0x02), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBREC with code 92", .v5, .server, "50 04 00 01 92 00",
            .invalidReasonCode(0x92), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBREL with code 10", .v5, .client, "62 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBREL with code 80", .v5, .client, "62 03 00 01 80",
            .invalidReasonCode(0x80), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBREL with code 91", .v5, .client, "62 03 00 01 91",
            .invalidReasonCode(0x91), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code 10", .v5, .server, "70 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code 83", .v5, .server, "70 03 00 01 83",
            .invalidReasonCode(0x83), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code FF", .v5, .server, "70 03 00 01 FF",
            .invalidReasonCode(0xFF), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a SUBACK with code 03", .v5, .server, "90 04 00 01 00 03",
            .invalidReasonCode(0x03), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 10", .v5, .server, "90 04 00 01 00 10",
            .invalidReasonCode(0x10), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 11", .v5, .server, "90 04 00 01 00 11",
            .invalidReasonCode(0x11), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 9A", .v5, .server, "90 04 00 01 00 9A",
            .invalidReasonCode(0x9A), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK whose third code does not exist", .v5, .server, "90 06 00 01 00 00 87 7F",
            .invalidReasonCode(0x7F), .reasonCode, 7, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 03", .v311, .server, "90 03 00 01 03",
            .invalidReasonCode(0x03), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 7F", .v311, .server, "90 03 00 01 7F",
            .invalidReasonCode(0x7F), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 81", .v311, .server, "90 03 00 01 81",
            .invalidReasonCode(0x81), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 87", .v311, .server, "90 03 00 01 87",
            .invalidReasonCode(0x87), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1 with code 03", .v31, .server, "90 03 00 01 03",
            .invalidReasonCode(0x03), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2] of 3.1.1"),
        MalformedPacket(
            "an UNSUBACK with code 01", .v5, .server, "B0 04 00 01 00 01",
            .invalidReasonCode(0x01), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 10", .v5, .server, "B0 04 00 01 00 10",
            .invalidReasonCode(0x10), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 97", .v5, .server, "B0 04 00 01 00 97",
            .invalidReasonCode(0x97), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 9E", .v5, .server, "B0 04 00 01 00 9E",
            .invalidReasonCode(0x9E), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "a DISCONNECT with code 01", .v5, .server, "E0 01 01",
            .invalidReasonCode(0x01), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 10", .v5, .server, "E0 01 10",
            .invalidReasonCode(0x10), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 84", .v5, .server, "E0 01 84",
            .invalidReasonCode(0x84), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 91", .v5, .server, "E0 01 91",
            .invalidReasonCode(0x91), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code FF", .v5, .server, "E0 01 FF",
            .invalidReasonCode(0xFF), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of the server that asks for a will", .v5, .server, "E0 01 04",
            .invalidReasonCode(0x04), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 87", .v5, .client, "E0 02 87 00",
            .invalidReasonCode(0x87), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 89", .v5, .client, "E0 02 89 00",
            .invalidReasonCode(0x89), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8B", .v5, .client, "E0 02 8B 00",
            .invalidReasonCode(0x8B), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8D", .v5, .client, "E0 02 8D 00",
            .invalidReasonCode(0x8D), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8E", .v5, .client, "E0 02 8E 00",
            .invalidReasonCode(0x8E), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8F", .v5, .client, "E0 02 8F 00",
            .invalidReasonCode(0x8F), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9A", .v5, .client, "E0 02 9A 00",
            .invalidReasonCode(0x9A), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9C", .v5, .client, "E0 02 9C 00",
            .invalidReasonCode(0x9C), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9F", .v5, .client, "E0 02 9F 00",
            .invalidReasonCode(0x9F), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code A0", .v5, .client, "E0 02 A0 00",
            .invalidReasonCode(0xA0), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "an AUTH of a client that reports success", .v5, .client, "F0 06 00 04 15 00 01 6D",
            .invalidReasonCode(0x00), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH of a client without a body, which means success", .v5, .client, "F0 00",
            .invalidReasonCode(0x00), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH of the server that starts again", .v5, .server, "F0 06 19 04 15 00 01 6D",
            .invalidReasonCode(0x19), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH with code 01", .v5, .server, "F0 06 01 04 15 00 01 6D",
            .invalidReasonCode(0x01), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH with code 87", .v5, .server, "F0 06 87 04 15 00 01 6D",
            .invalidReasonCode(0x87), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
    ]

    /// Empty lists that need at least one entry.
    static let emptyLists: [MalformedPacket] = [
        MalformedPacket(
            "a SUBSCRIBE without a filter", .v5, .client, "82 03 00 01 00",
            .noEntries, .topicFilter, 5, .protocolError, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 without a filter", .v311, .client, "82 02 00 01",
            .noEntries, .topicFilter, 4, .protocolError, "[MQTT-3.8.3-3]"),
        MalformedPacket(
            "an UNSUBSCRIBE without a filter", .v5, .client, "A2 03 00 01 00",
            .noEntries, .topicFilter, 5, .protocolError, "[MQTT-3.10.3-2]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 without a filter", .v311, .client, "A2 02 00 01",
            .noEntries, .topicFilter, 4, .protocolError, "[MQTT-3.10.3-2]"),
        MalformedPacket(
            "a SUBACK without a code", .v5, .server, "90 03 00 01 00",
            .noEntries, .reasonCode, 5, .protocolError, "[MQTT-3.8.4-6]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 without a code", .v311, .server, "90 02 00 01",
            .noEntries, .reasonCode, 4, .protocolError, "[MQTT-3.8.4-5]"),
        MalformedPacket(
            "an UNSUBACK without a code", .v5, .server, "B0 03 00 01 00",
            .noEntries, .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
    ]
}
