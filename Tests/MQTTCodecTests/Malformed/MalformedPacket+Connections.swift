import MQTTCodec

extension MalformedPacket {
    /// CONNECT and CONNACK: protocol names and levels, contradicting flags, and impossible results.
    static let connections: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT with the protocol name MQTS", .v5, .client, "10 0E 00 04 4D 51 54 53 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name mqtt", .v5, .client, "10 0E 00 04 6D 71 74 74 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with an empty protocol name", .v5, .client, "10 0A 00 00 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQIsdq", .v5, .client,
            "10 10 00 06 4D 51 49 73 64 71 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQTTX", .v5, .client,
            "10 0F 00 05 4D 51 54 54 58 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQTt to a server of 3.1.1", .v311, .client,
            "10 0D 00 04 4D 51 54 74 04 02 00 3C 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 0", .v5, .client, "10 0E 00 04 4D 51 54 54 00 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(0), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 3", .v5, .client, "10 0E 00 04 4D 51 54 54 03 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(3), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 6", .v5, .client, "10 0E 00 04 4D 51 54 54 06 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(6), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 132", .v5, .client, "10 0E 00 04 4D 51 54 54 84 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(132), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 255", .v5, .client, "10 0E 00 04 4D 51 54 54 FF 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(255), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQIsdp and level 4", .v31, .client, "10 0F 00 06 4D 51 49 73 64 70 04 02 00 3C 00 01 63",
            .unsupportedProtocolVersion(4), .protocolVersion, 10,
            .unsupportedProtocolVersion, "[MQTT-3.1.2-2] of 3.1.1"),
        MalformedPacket(
            "a CONNECT with MQIsdp and level 5", .v31, .client, "10 0F 00 06 4D 51 49 73 64 70 05 02 00 3C 00 01 63",
            .unsupportedProtocolVersion(5), .protocolVersion, 10,
            .unsupportedProtocolVersion, "[MQTT-3.1.2-2] of 3.1.1"),
        MalformedPacket(
            "a CONNECT with the reserved flag", .v5, .client, "10 0E 00 04 4D 51 54 54 05 03 00 3C 00 00 01 63",
            .reservedConnectFlag, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-3]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with the reserved flag", .v311, .client, "10 0D 00 04 4D 51 54 54 04 03 00 3C 00 01 63",
            .reservedConnectFlag, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-3]"),
        MalformedPacket(
            "a CONNECT with a will QoS and no will", .v5, .client, "10 0E 00 04 4D 51 54 54 05 0A 00 3C 00 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-11]"),
        MalformedPacket(
            "a CONNECT with will retain and no will", .v5, .client, "10 0E 00 04 4D 51 54 54 05 22 00 3C 00 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-13]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a will QoS and no will", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 12 00 3C 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-13]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with will retain and no will", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 22 00 3C 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-15]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a password and no user name", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 42 00 3C 00 01 63 00 01 70",
            .passwordWithoutUsername, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-22]"),
        MalformedPacket(
            "a CONNECT of 3.1 with a password and no user name", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 42 00 3C 00 01 63 00 01 70",
            .passwordWithoutUsername, .connectFlags, 11, .malformedPacket, "[MQTT-3.1.2-22] of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without an identifier that keeps its session", .v311, .client,
            "10 0C 00 04 4D 51 54 54 04 00 00 3C 00 00",
            .emptyClientID, .clientID, 12, .clientIdentifierNotValid, "[MQTT-3.1.3-8]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without an identifier, to a server of 5", .v5, .client,
            "10 0C 00 04 4D 51 54 54 04 00 00 3C 00 00",
            .emptyClientID, .clientID, 12, .clientIdentifierNotValid, "[MQTT-3.1.3-8] of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 3.1 with an empty identifier", .v31, .client,
            "10 0E 00 06 4D 51 49 73 64 70 03 02 00 3C 00 00",
            .emptyClientID, .clientID, 14, .clientIdentifierNotValid, "3.1 of MQTT 3.1"),
        MalformedPacket(
            "a CONNACK with the flags 02", .v5, .server, "20 03 02 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK with the flags 80", .v5, .server, "20 03 80 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK with the flags FF", .v5, .server, "20 03 FF 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK of 3.1.1 with the flags 02", .v311, .server, "20 02 02 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a refusal with a session", .v5, .server, "20 03 01 87 00",
            .sessionPresentInRefusal, .acknowledgeFlags, 2, .protocolError, "[MQTT-3.2.2-6]"),
        MalformedPacket(
            "a refusal of 3.1.1 with a session", .v311, .server, "20 02 01 05",
            .sessionPresentInRefusal, .acknowledgeFlags, 2, .protocolError, "[MQTT-3.2.2-4]"),
        MalformedPacket(
            "a return code 06 in 3.1.1", .v311, .server, "20 02 00 06",
            .invalidReasonCode(0x06), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code 84 in 3.1.1", .v311, .server, "20 02 00 84",
            .invalidReasonCode(0x84), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code FF in 3.1.1", .v311, .server, "20 02 00 FF",
            .invalidReasonCode(0xFF), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code 06 in 3.1", .v31, .server, "20 02 00 06",
            .invalidReasonCode(0x06), .reasonCode, 3, .protocolError, "3.2.2 of 3.1.1"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 1 as the answer to 5", .v5, .server, "20 02 00 01",
            .connAckOfOlderVersion(1), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 2 as the answer to 5", .v5, .server, "20 02 00 02",
            .connAckOfOlderVersion(2), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 3 as the answer to 5", .v5, .server, "20 02 00 03",
            .connAckOfOlderVersion(3), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 4 as the answer to 5", .v5, .server, "20 02 00 04",
            .connAckOfOlderVersion(4), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 5 as the answer to 5", .v5, .server, "20 02 00 05",
            .connAckOfOlderVersion(5), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
    ]

    /// Extended authentication that does not name its method.
    static let authentication: [MalformedPacket] = [
        MalformedPacket(
            "authentication data without a method in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 16 00 01 64 00 01 63",
            .authenticationDataWithoutMethod, .properties, 13, .protocolError, "3.1.2.11.10"),
        MalformedPacket(
            "authentication data without a method in AUTH", .v5, .server, "F0 06 18 04 16 00 01 64",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with a reason code and nothing more", .v5, .server, "F0 01 18",
            .missingAuthenticationMethod, .properties, 3, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with an empty property list", .v5, .client, "F0 02 19 00",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with a reason string and no method", .v5, .server, "F0 06 18 04 1F 00 01 72",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
    ]
}
