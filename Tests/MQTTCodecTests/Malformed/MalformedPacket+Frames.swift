import MQTTCodec

extension MalformedPacket {
    /// Errors in the first byte: flags, reserved types, and packets that only the other endpoint may send.
    static let fixedHeaders: [MalformedPacket] = [
        MalformedPacket(
            "CONNECT with flags 0001", .v5, .client, "11 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "CONNACK with flags 0010", .v5, .server, "22 03 00 00 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBACK with flags 0010", .v5, .client, "42 02 00 01",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBREC with flags 0001", .v5, .server, "51 02 00 01",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBREL with flags 0000", .v5, .client, "60 02 00 01",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.6.1-1]"),
        MalformedPacket(
            "PUBCOMP with flags 1000", .v5, .server, "78 02 00 01",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "SUBSCRIBE with flags 0000", .v5, .client, "80 07 00 01 00 00 01 61 00",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.8.1-1]"),
        MalformedPacket(
            "SUBACK with flags 0100", .v5, .server, "94 04 00 01 00 00",
            .invalidFlags(4), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "UNSUBSCRIBE with flags 0011", .v5, .client, "A3 06 00 01 00 00 01 61",
            .invalidFlags(3), .fixedHeader, 0, .malformedPacket, "[MQTT-3.10.1-1]"),
        MalformedPacket(
            "UNSUBACK with flags 0010", .v5, .server, "B2 04 00 01 00 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PINGREQ with flags 0001", .v5, .client, "C1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PINGRESP with flags 1000", .v5, .server, "D8 00",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "DISCONNECT with flags 0001", .v5, .server, "E1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-3.14.1-1]"),
        MalformedPacket(
            "AUTH with flags 0010", .v5, .server, "F2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-3.15.1-1]"),
        MalformedPacket(
            "CONNECT of 3.1.1 with flags 1111", .v311, .client, "1F 00",
            .invalidFlags(15), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "CONNACK of 3.1.1 with flags 0001", .v311, .server, "21 02 00 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBACK of 3.1.1 with flags 0100", .v311, .server, "44 02 00 01",
            .invalidFlags(4), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBREC of 3.1.1 with flags 0010", .v311, .client, "52 02 00 01",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBREL of 3.1.1 with flags 1010", .v311, .server, "6A 02 00 01",
            .invalidFlags(10), .fixedHeader, 0, .malformedPacket, "[MQTT-3.6.1-1]"),
        MalformedPacket(
            "PUBCOMP of 3.1.1 with flags 0001", .v311, .client, "71 02 00 01",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "SUBSCRIBE of 3.1.1 with flags 1010", .v311, .client, "8A 06 00 01 00 01 61 00",
            .invalidFlags(10), .fixedHeader, 0, .malformedPacket, "[MQTT-3.8.1-1]"),
        MalformedPacket(
            "SUBACK of 3.1.1 with flags 0001", .v311, .server, "91 03 00 01 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "UNSUBSCRIBE of 3.1.1 with flags 0000", .v311, .client, "A0 05 00 01 00 01 61",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.10.1-1]"),
        MalformedPacket(
            "UNSUBACK of 3.1.1 with flags 1000", .v311, .server, "B8 02 00 01",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PINGREQ of 3.1.1 with flags 0010", .v311, .client, "C2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PINGRESP of 3.1.1 with flags 0001", .v311, .server, "D1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "DISCONNECT of 3.1.1 with flags 0010", .v311, .client, "E2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-3.14.1-1]"),
        MalformedPacket(
            "type 0 in 00 from a client of 5", .v5, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.1.2"),
        MalformedPacket(
            "type 0 in 0F from a server of 5", .v5, .server, "0F 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.1.2"),
        MalformedPacket(
            "type 0 in 00 from a client of 3.1.1", .v311, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 15 in F0 from a client of 3.1.1", .v311, .client, "F0 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 15 in F0 from a server of 3.1.1", .v311, .server, "F0 02 18 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 0 in 00 from a client of 3.1", .v31, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.2.1 of 3.1.1"),
        MalformedPacket(
            "type 15 in F0 from a server of 3.1", .v31, .server, "F0 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1 of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 5 that a server sends", .v5, .server, "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a CONNACK of 5 that a client sends", .v5, .client, "20 03 00 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a SUBSCRIBE of 5 that a server sends", .v5, .server, "82 07 00 01 00 00 01 61 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a SUBACK of 5 that a client sends", .v5, .client, "90 04 00 01 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "an UNSUBSCRIBE of 5 that a server sends", .v5, .server, "A2 06 00 01 00 00 01 61",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "an UNSUBACK of 5 that a client sends", .v5, .client, "B0 04 00 01 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a PINGREQ of 5 that a server sends", .v5, .server, "C0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a PINGRESP of 5 that a client sends", .v5, .client, "D0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a CONNECT of 3.1.1 that a server sends", .v311, .server, "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 63",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a CONNACK of 3.1.1 that a client sends", .v311, .client, "20 02 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 that a server sends", .v311, .server, "82 06 00 01 00 01 61 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a SUBACK of 3.1.1 that a client sends", .v311, .client, "90 03 00 01 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 that a server sends", .v311, .server, "A2 05 00 01 00 01 61",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 that a client sends", .v311, .client, "B0 02 00 01",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a PINGREQ of 3.1.1 that a server sends", .v311, .server, "C0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a PINGRESP of 3.1.1 that a client sends", .v311, .client, "D0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a DISCONNECT of 3.1.1 that a server sends", .v311, .server, "E0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a DISCONNECT of 3.1 that a server sends", .v31, .server, "E0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1 of 3.1.1"),
    ]

    /// Remaining lengths with a wrong form, or above the maximum packet size.
    static let remainingLengths: [MalformedPacket] = [
        MalformedPacket(
            "a remaining length of five bytes", .v5, .client, "30 FF FF FF FF 01",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a remaining length of five bytes that says 0", .v5, .server, "30 80 80 80 80 00",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a remaining length of 3.1.1 of five bytes", .v311, .client, "C0 80 80 80 80 00",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "2.2.3"),
        MalformedPacket(
            "a remaining length of 3.1 of five bytes", .v31, .client, "10 FF FF FF FF 7F",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "2.2.3 of 3.1.1"),
        MalformedPacket(
            "a remaining length of 0 in two bytes", .v5, .client, "C0 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 0 in three bytes", .v5, .server, "E0 80 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 0 in four bytes", .v5, .server, "D0 80 80 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 5 in two bytes", .v5, .client, "30 85 00 00 01 61 00 62",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 127 in three bytes", .v5, .client, "30 FF 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a packet one byte over the limit of the server", .v5, .client,
            "30 0F 00 01 61 00 62 62 62 62 62 62 62 62 62 62 62",
            .packetTooLarge(size: 17, limit: 16), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.2.2-15]", limits: .sixteenBytes),
        MalformedPacket(
            "a packet one byte over the limit of the client", .v5, .server,
            "30 0F 00 01 61 00 62 62 62 62 62 62 62 62 62 62 62",
            .packetTooLarge(size: 17, limit: 16), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.1.2-24]", limits: .sixteenBytes),
        MalformedPacket(
            "the start of a packet over the default limit", .v5, .client, "30 FF FF FF 07",
            .packetTooLarge(size: 16_777_220, limit: 16_777_216), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.2.2-15]"),
        MalformedPacket(
            "the start of the largest packet there can be", .v5, .server, "30 FF FF FF 7F",
            .packetTooLarge(size: 268_435_460, limit: 16_777_216), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.1.2-24]"),
        MalformedPacket(
            "a CONNECT of 5 with a long remaining length, to a server that reads 3.1.1", .v311, .client,
            "10 8E 00 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
    ]

    /// Each field once cut off at its end, in a packet with a correct remaining length.
    static let truncatedFields: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT without a body", .v5, .client, "10 00",
            .truncated, .protocolName, 2, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with half a protocol name", .v5, .client, "10 04 00 04 4D 51",
            .truncated, .protocolName, 2, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without a version", .v5, .client, "10 06 00 04 4D 51 54 54",
            .truncated, .protocolVersion, 8, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without flags", .v5, .client, "10 07 00 04 4D 51 54 54 05",
            .truncated, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with half a keep-alive", .v5, .client, "10 09 00 04 4D 51 54 54 05 02 00",
            .truncated, .keepAlive, 10, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without a property length", .v5, .client, "10 0A 00 04 4D 51 54 54 05 02 00 3C",
            .truncated, .propertyLength, 12, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a CONNECT without a client identifier", .v5, .client, "10 0B 00 04 4D 51 54 54 05 02 00 3C 00",
            .truncated, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT with half a client identifier", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 05 63 63",
            .truncated, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT without the will that its flags announce", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63",
            .truncated, .propertyLength, 16, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with will properties and nothing more", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00",
            .truncated, .willTopic, 17, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with half a will topic", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 03 77",
            .truncated, .willTopic, 17, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT without a will payload", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 77",
            .truncated, .willPayload, 20, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with half a will payload", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 77 00 04 01 02",
            .truncated, .willPayload, 20, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT without the user name that its flags announce", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63",
            .truncated, .username, 16, .malformedPacket, "[MQTT-3.1.2-17]"),
        MalformedPacket(
            "a CONNECT with half a user name", .v5, .client, "10 11 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 02 75",
            .truncated, .username, 16, .malformedPacket, "[MQTT-3.1.2-17]"),
        MalformedPacket(
            "a CONNECT without the password that its flags announce", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 C2 00 3C 00 00 01 63 00 01 75",
            .truncated, .password, 19, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT with half a password", .v5, .client, "10 11 00 04 4D 51 54 54 05 42 00 3C 00 00 01 63 00 02 70",
            .truncated, .password, 16, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without a client identifier", .v311, .client, "10 0A 00 04 4D 51 54 54 04 02 00 3C",
            .truncated, .clientID, 12, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its will", .v311, .client, "10 0D 00 04 4D 51 54 54 04 06 00 3C 00 01 63",
            .truncated, .willTopic, 15, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its user name", .v311, .client, "10 0D 00 04 4D 51 54 54 04 82 00 3C 00 01 63",
            .truncated, .username, 15, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its password", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 C2 00 3C 00 01 63 00 01 75",
            .truncated, .password, 18, .malformedPacket, "[MQTT-3.1.2-21]"),
        MalformedPacket(
            "a CONNECT of 3.1 with half a user name", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 82 00 3C 00 01 63 00 02 75",
            .truncated, .username, 17, .malformedPacket, "[MQTT-3.1.2-19] of 3.1.1"),
        MalformedPacket(
            "a CONNACK without a body", .v5, .server, "20 00",
            .truncated, .acknowledgeFlags, 2, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a CONNACK without a reason code", .v5, .server, "20 01 00",
            .truncated, .reasonCode, 3, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a CONNACK without a property length", .v5, .server, "20 02 00 00",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a CONNACK of 3.1.1 without a return code", .v311, .server, "20 01 00",
            .truncated, .reasonCode, 3, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a PUBLISH without a body", .v5, .client, "30 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a PUBLISH with half a topic length", .v5, .client, "30 01 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a PUBLISH with half a topic", .v5, .server, "30 04 00 05 61 62",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a QoS 1 PUBLISH without a packet id", .v5, .client, "32 03 00 01 61",
            .truncated, .packetID, 5, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "a QoS 2 PUBLISH with half a packet id", .v5, .server, "34 04 00 01 61 00",
            .truncated, .packetID, 5, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "a PUBLISH without a property length", .v5, .client, "30 03 00 01 61",
            .truncated, .propertyLength, 5, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 without a body", .v311, .client, "30 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1.1 without a packet id", .v311, .server, "33 03 00 01 61",
            .truncated, .packetID, 5, .malformedPacket, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a PUBACK with half a packet id", .v5, .client, "40 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.4.2"),
        MalformedPacket(
            "a PUBREC with half a packet id", .v5, .client, "50 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.5.2"),
        MalformedPacket(
            "a PUBREL with half a packet id", .v5, .server, "62 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.6.2"),
        MalformedPacket(
            "a PUBCOMP with half a packet id", .v5, .client, "70 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.7.2"),
        MalformedPacket(
            "a PUBACK of 3.1.1 without a body", .v311, .client, "40 00",
            .truncated, .packetID, 2, .malformedPacket, "2.3.1"),
        MalformedPacket(
            "a SUBSCRIBE without a body", .v5, .client, "82 00",
            .truncated, .packetID, 2, .malformedPacket, "3.8.2"),
        MalformedPacket(
            "a SUBSCRIBE without a property length", .v5, .client, "82 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a SUBSCRIBE with half a filter", .v5, .client, "82 06 00 01 00 00 03 61",
            .truncated, .topicFilter, 5, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a SUBSCRIBE without options", .v5, .client, "82 06 00 01 00 00 01 61",
            .truncated, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE whose second filter has no options", .v5, .client, "82 0A 00 01 00 00 01 61 01 00 01 62",
            .truncated, .subscriptionOptions, 12, .malformedPacket, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 without a requested QoS", .v311, .client, "82 05 00 01 00 01 61",
            .truncated, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-3]"),
        MalformedPacket(
            "a SUBACK with half a packet id", .v5, .server, "90 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.9.2"),
        MalformedPacket(
            "a SUBACK without a property length", .v5, .server, "90 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "an UNSUBSCRIBE with half a packet id", .v5, .client, "A2 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.10.2"),
        MalformedPacket(
            "an UNSUBSCRIBE with half a filter", .v5, .client, "A2 06 00 01 00 00 02 61",
            .truncated, .topicFilter, 5, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 with half a filter", .v311, .client, "A2 05 00 01 00 09 61",
            .truncated, .topicFilter, 4, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "an UNSUBACK without a property length", .v5, .server, "B0 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 without a packet id", .v311, .server, "B0 00",
            .truncated, .packetID, 2, .malformedPacket, "[MQTT-2.3.1-7]"),
    ]

    /// Extra bytes after the last field, which the remaining length includes.
    static let trailingBytes: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT with a byte behind the client identifier", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63 00",
            .trailingBytes(1), .end, 16, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with a user name and no flag for it", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63 00 01 75",
            .trailingBytes(3), .end, 16, .malformedPacket, "[MQTT-3.1.2-16]"),
        MalformedPacket(
            "a CONNECT with a password and no flag for it", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 01 75 00 01 70",
            .trailingBytes(3), .end, 19, .malformedPacket, "[MQTT-3.1.2-18]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a will and no flag for it", .v311, .client,
            "10 13 00 04 4D 51 54 54 04 02 00 3C 00 01 63 00 01 77 00 01 6D",
            .trailingBytes(6), .end, 15, .malformedPacket, "[MQTT-3.1.2-11]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a user name and no flag for it", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 02 00 3C 00 01 63 00 01 75",
            .trailingBytes(3), .end, 15, .malformedPacket, "[MQTT-3.1.2-18]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a password and no flag for it", .v311, .client,
            "10 13 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 75 00 01 70",
            .trailingBytes(3), .end, 18, .malformedPacket, "[MQTT-3.1.2-20]"),
        MalformedPacket(
            "a CONNECT of 3.1 with a byte behind the client identifier", .v31, .client,
            "10 10 00 06 4D 51 49 73 64 70 03 02 00 3C 00 01 63 00",
            .trailingBytes(1), .end, 17, .malformedPacket, "[MQTT-3.1.4-1] of 3.1.1"),
        MalformedPacket(
            "a CONNACK with a payload", .v5, .server, "20 04 00 00 00 FF",
            .trailingBytes(1), .end, 5, .malformedPacket, "3.2.3"),
        MalformedPacket(
            "a CONNACK of 3.1.1 with a payload", .v311, .server, "20 03 00 00 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.2.3"),
        MalformedPacket(
            "a CONNACK of 3.1 with a payload", .v31, .server, "20 04 00 00 00 00",
            .trailingBytes(2), .end, 4, .malformedPacket, "3.2.3 of 3.1.1"),
        MalformedPacket(
            "a PUBACK with a payload", .v5, .client, "40 05 00 01 00 00 FF",
            .trailingBytes(1), .end, 6, .malformedPacket, "3.4.3"),
        MalformedPacket(
            "a PUBREC with a payload behind its properties", .v5, .server, "50 0A 00 01 00 04 1F 00 01 72 FF FF",
            .trailingBytes(2), .end, 10, .malformedPacket, "3.5.3"),
        MalformedPacket(
            "a PUBACK of 3.1.1 with a reason code", .v311, .client, "40 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.4.3"),
        MalformedPacket(
            "a PUBREC of 3.1.1 with a reason code", .v311, .client, "50 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.5.3"),
        MalformedPacket(
            "a PUBREL of 3.1.1 with a reason code", .v311, .client, "62 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.6.3"),
        MalformedPacket(
            "a PUBCOMP of 3.1.1 with a reason code", .v311, .client, "70 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.7.3"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 with a payload", .v311, .server, "B0 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.11.3"),
        MalformedPacket(
            "a PINGREQ with a body", .v5, .client, "C0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.12.3"),
        MalformedPacket(
            "a PINGRESP with a body", .v5, .server, "D0 02 00 00",
            .trailingBytes(2), .end, 2, .malformedPacket, "3.13.3"),
        MalformedPacket(
            "a PINGREQ of 3.1.1 with a body", .v311, .client, "C0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.12.3"),
        MalformedPacket(
            "a PINGRESP of 3.1.1 with a body", .v311, .server, "D0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.13.3"),
        MalformedPacket(
            "a DISCONNECT with a payload", .v5, .client, "E0 03 00 00 FF",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.14.3"),
        MalformedPacket(
            "a DISCONNECT of 3.1.1 with a reason code", .v311, .client, "E0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.14.3"),
        MalformedPacket(
            "an AUTH with a payload", .v5, .server, "F0 07 18 04 15 00 01 6D FF",
            .trailingBytes(1), .end, 8, .malformedPacket, "3.15.3"),
    ]
}
