import MQTTCodec

extension MalformedPacket {
    /// Each property once in a packet that does not allow it (Table 2-4), or from the wrong sender.
    static let misplacedProperties: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 01 01 00 01 63",
            .propertyNotAllowed(.payloadFormatIndicator), .property(.payloadFormatIndicator), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "message expiry interval in SUBSCRIBE", .v5, .client, "82 0C 00 01 05 02 00 00 00 3C 00 01 61 00",
            .propertyNotAllowed(.messageExpiryInterval), .property(.messageExpiryInterval), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "content type in PUBACK", .v5, .client, "40 08 00 01 00 04 03 00 01 78",
            .propertyNotAllowed(.contentType), .property(.contentType), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "response topic in SUBACK", .v5, .server, "90 08 00 01 04 08 00 01 72 00",
            .propertyNotAllowed(.responseTopic), .property(.responseTopic), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "correlation data in UNSUBSCRIBE", .v5, .client, "A2 0A 00 01 04 09 00 01 6B 00 01 61",
            .propertyNotAllowed(.correlationData), .property(.correlationData), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifier in UNSUBSCRIBE", .v5, .client, "A2 08 00 01 02 0B 05 00 01 61",
            .propertyNotAllowed(.subscriptionIdentifier), .property(.subscriptionIdentifier), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifier in a will", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 02 0B 05 00 01 77 00 00",
            .propertyNotAllowed(.subscriptionIdentifier), .property(.subscriptionIdentifier), 17,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval in PUBLISH", .v5, .client, "30 09 00 01 61 05 11 00 00 00 0A",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval in a will", .v5, .client,
            "10 19 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 05 11 00 00 00 0A 00 01 77 00 00",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 17,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "assigned client identifier in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 12 00 01 69 00 01 63",
            .propertyNotAllowed(.assignedClientIdentifier), .property(.assignedClientIdentifier), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "server keep-alive in CONNECT", .v5, .client, "10 11 00 04 4D 51 54 54 05 02 00 3C 03 13 00 1E 00 01 63",
            .propertyNotAllowed(.serverKeepAlive), .property(.serverKeepAlive), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "authentication method in PUBLISH", .v5, .client, "30 08 00 01 61 04 15 00 01 6D",
            .propertyNotAllowed(.authenticationMethod), .property(.authenticationMethod), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "authentication data in DISCONNECT", .v5, .server, "E0 06 00 04 16 00 01 64",
            .propertyNotAllowed(.authenticationData), .property(.authenticationData), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "request problem information in CONNACK", .v5, .server, "20 05 00 00 02 17 01",
            .propertyNotAllowed(.requestProblemInformation), .property(.requestProblemInformation), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "will delay interval in CONNECT", .v5, .client,
            "10 13 00 04 4D 51 54 54 05 02 00 3C 05 18 00 00 00 05 00 01 63",
            .propertyNotAllowed(.willDelayInterval), .property(.willDelayInterval), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "will delay interval in PUBLISH", .v5, .client, "30 09 00 01 61 05 18 00 00 00 05",
            .propertyNotAllowed(.willDelayInterval), .property(.willDelayInterval), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "request response information in AUTH", .v5, .server, "F0 04 18 02 19 00",
            .propertyNotAllowed(.requestResponseInformation), .property(.requestResponseInformation), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "response information in PUBREC", .v5, .server, "50 08 00 01 00 04 1A 00 01 69",
            .propertyNotAllowed(.responseInformation), .property(.responseInformation), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "server reference in AUTH", .v5, .server, "F0 06 18 04 1C 00 01 73",
            .propertyNotAllowed(.serverReference), .property(.serverReference), 4, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in CONNECT", .v5, .client, "10 12 00 04 4D 51 54 54 05 02 00 3C 04 1F 00 01 72 00 01 63",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 13, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in PUBLISH", .v5, .client, "30 08 00 01 61 04 1F 00 01 72",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in SUBSCRIBE", .v5, .client, "82 0B 00 01 04 1F 00 01 72 00 01 61 00",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "receive maximum in PUBCOMP", .v5, .server, "70 07 00 01 00 03 21 00 0A",
            .propertyNotAllowed(.receiveMaximum), .property(.receiveMaximum), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias maximum in PUBREL", .v5, .client, "62 07 00 01 00 03 22 00 0A",
            .propertyNotAllowed(.topicAliasMaximum), .property(.topicAliasMaximum), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias in a will", .v5, .client,
            "10 17 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 03 23 00 01 00 01 77 00 00",
            .propertyNotAllowed(.topicAlias), .property(.topicAlias), 17, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias in CONNACK", .v5, .server, "20 06 00 00 03 23 00 01",
            .propertyNotAllowed(.topicAlias), .property(.topicAlias), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "maximum QoS in CONNECT", .v5, .client, "10 10 00 04 4D 51 54 54 05 02 00 3C 02 24 01 00 01 63",
            .propertyNotAllowed(.maximumQoS), .property(.maximumQoS), 13, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "retain available in SUBACK", .v5, .server, "90 06 00 01 02 25 00 00",
            .propertyNotAllowed(.retainAvailable), .property(.retainAvailable), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "maximum packet size in UNSUBACK", .v5, .server, "B0 09 00 01 05 27 00 00 10 00 00",
            .propertyNotAllowed(.maximumPacketSize), .property(.maximumPacketSize), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "wildcard subscription available in DISCONNECT", .v5, .server, "E0 04 00 02 28 01",
            .propertyNotAllowed(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifiers available in PUBLISH", .v5, .client, "30 06 00 01 61 02 29 01",
            .propertyNotAllowed(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "shared subscription available in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 2A 00 00 01 63",
            .propertyNotAllowed(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval behind a good property", .v5, .client,
            "40 0D 00 01 00 09 1F 00 01 72 11 00 00 00 01",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 10,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "a subscription identifier in a PUBLISH of a client", .v5, .client, "30 06 00 01 61 02 0B 01",
            .propertyOfOtherEnd(.subscriptionIdentifier), .property(.subscriptionIdentifier), 6,
            .protocolError, "[MQTT-3.3.4-6]"),
        MalformedPacket(
            "a session expiry interval in a DISCONNECT of the server", .v5, .server, "E0 07 00 05 11 00 00 00 01",
            .propertyOfOtherEnd(.sessionExpiryInterval), .property(.sessionExpiryInterval), 4,
            .protocolError, "[MQTT-3.14.2-2]"),
    ]

    /// Each property that may appear only once, but appears twice.
    static let repeatedProperties: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator twice in a will", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 04 01 01 01 01 00 01 77 00 00",
            .duplicateProperty(.payloadFormatIndicator), .property(.payloadFormatIndicator), 19,
            .protocolError, "3.1.3.2.3"),
        MalformedPacket(
            "message expiry interval twice in a will", .v5, .client,
            "10 1E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 02 00 00 00 3C 02 00 00 00 3C 00 01 77 00 00",
            .duplicateProperty(.messageExpiryInterval), .property(.messageExpiryInterval), 22,
            .protocolError, "3.1.3.2.4"),
        MalformedPacket(
            "content type twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 03 00 01 78 03 00 01 78",
            .duplicateProperty(.contentType), .property(.contentType), 10, .protocolError, "3.3.2.3.9"),
        MalformedPacket(
            "response topic twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 08 00 01 72 08 00 01 72",
            .duplicateProperty(.responseTopic), .property(.responseTopic), 10, .protocolError, "3.3.2.3.5"),
        MalformedPacket(
            "correlation data twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 09 00 01 6B 09 00 01 6B",
            .duplicateProperty(.correlationData), .property(.correlationData), 10, .protocolError, "3.3.2.3.6"),
        MalformedPacket(
            "subscription identifier twice in SUBSCRIBE", .v5, .client, "82 0B 00 01 04 0B 05 0B 05 00 01 61 00",
            .duplicateProperty(.subscriptionIdentifier), .property(.subscriptionIdentifier), 7,
            .protocolError, "3.8.2.1.2"),
        MalformedPacket(
            "session expiry interval twice in CONNECT", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 02 00 3C 0A 11 00 00 00 0A 11 00 00 00 0A 00 01 63",
            .duplicateProperty(.sessionExpiryInterval), .property(.sessionExpiryInterval), 18,
            .protocolError, "3.1.2.11.2"),
        MalformedPacket(
            "session expiry interval twice in CONNACK", .v5, .server, "20 0D 00 00 0A 11 00 00 00 0A 11 00 00 00 0A",
            .duplicateProperty(.sessionExpiryInterval), .property(.sessionExpiryInterval), 10,
            .protocolError, "3.2.2.3.2"),
        MalformedPacket(
            "assigned client identifier twice in CONNACK", .v5, .server, "20 0B 00 00 08 12 00 01 69 12 00 01 69",
            .duplicateProperty(.assignedClientIdentifier), .property(.assignedClientIdentifier), 9,
            .protocolError, "3.2.2.3.7"),
        MalformedPacket(
            "server keep-alive twice in CONNACK", .v5, .server, "20 09 00 00 06 13 00 1E 13 00 1E",
            .duplicateProperty(.serverKeepAlive), .property(.serverKeepAlive), 8, .protocolError, "3.2.2.3.14"),
        MalformedPacket(
            "authentication method twice in CONNECT", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 15 00 01 6D 15 00 01 6D 00 01 63",
            .duplicateProperty(.authenticationMethod), .property(.authenticationMethod), 17,
            .protocolError, "3.1.2.11.9"),
        MalformedPacket(
            "authentication method twice in AUTH", .v5, .server, "F0 0A 18 08 15 00 01 6D 15 00 01 6D",
            .duplicateProperty(.authenticationMethod), .property(.authenticationMethod), 8,
            .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "authentication data twice in CONNECT", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 16 00 01 64 16 00 01 64 00 01 63",
            .duplicateProperty(.authenticationData), .property(.authenticationData), 17, .protocolError, "3.1.2.11.10"),
        MalformedPacket(
            "authentication data twice in AUTH", .v5, .server, "F0 0A 18 08 16 00 01 64 16 00 01 64",
            .duplicateProperty(.authenticationData), .property(.authenticationData), 8, .protocolError, "3.15.2.2.3"),
        MalformedPacket(
            "request problem information twice in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 17 01 17 01 00 01 63",
            .duplicateProperty(.requestProblemInformation), .property(.requestProblemInformation), 15,
            .protocolError, "3.1.2.11.7"),
        MalformedPacket(
            "will delay interval twice in a will", .v5, .client,
            "10 1E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 18 00 00 00 05 18 00 00 00 05 00 01 77 00 00",
            .duplicateProperty(.willDelayInterval), .property(.willDelayInterval), 22, .protocolError, "3.1.3.2.2"),
        MalformedPacket(
            "request response information twice in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 19 00 19 00 00 01 63",
            .duplicateProperty(.requestResponseInformation), .property(.requestResponseInformation), 15,
            .protocolError, "3.1.2.11.6"),
        MalformedPacket(
            "response information twice in CONNACK", .v5, .server, "20 0B 00 00 08 1A 00 01 69 1A 00 01 69",
            .duplicateProperty(.responseInformation), .property(.responseInformation), 9, .protocolError, "3.2.2.3.15"),
        MalformedPacket(
            "server reference twice in CONNACK", .v5, .server, "20 0B 00 00 08 1C 00 01 73 1C 00 01 73",
            .duplicateProperty(.serverReference), .property(.serverReference), 9, .protocolError, "3.2.2.3.16"),
        MalformedPacket(
            "server reference twice in DISCONNECT", .v5, .server, "E0 0A 00 08 1C 00 01 73 1C 00 01 73",
            .duplicateProperty(.serverReference), .property(.serverReference), 8, .protocolError, "3.14.2.2.5"),
        MalformedPacket(
            "reason string twice in PUBACK", .v5, .client, "40 0C 00 01 00 08 1F 00 01 72 1F 00 01 72",
            .duplicateProperty(.reasonString), .property(.reasonString), 10, .protocolError, "3.4.2.2.2"),
        MalformedPacket(
            "reason string twice in SUBACK", .v5, .server, "90 0C 00 01 08 1F 00 01 72 1F 00 01 72 00",
            .duplicateProperty(.reasonString), .property(.reasonString), 9, .protocolError, "3.9.2.1.2"),
        MalformedPacket(
            "reason string twice in DISCONNECT", .v5, .server, "E0 0A 00 08 1F 00 01 72 1F 00 01 72",
            .duplicateProperty(.reasonString), .property(.reasonString), 8, .protocolError, "3.14.2.2.3"),
        MalformedPacket(
            "receive maximum twice in CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 02 00 3C 06 21 00 0A 21 00 0A 00 01 63",
            .duplicateProperty(.receiveMaximum), .property(.receiveMaximum), 16, .protocolError, "3.1.2.11.3"),
        MalformedPacket(
            "topic alias maximum twice in CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 02 00 3C 06 22 00 0A 22 00 0A 00 01 63",
            .duplicateProperty(.topicAliasMaximum), .property(.topicAliasMaximum), 16, .protocolError, "3.1.2.11.5"),
        MalformedPacket(
            "topic alias twice in PUBLISH", .v5, .client, "30 0A 00 01 61 06 23 00 01 23 00 01",
            .duplicateProperty(.topicAlias), .property(.topicAlias), 9, .protocolError, "3.3.2.3.4"),
        MalformedPacket(
            "maximum QoS twice in CONNACK", .v5, .server, "20 07 00 00 04 24 01 24 01",
            .duplicateProperty(.maximumQoS), .property(.maximumQoS), 7, .protocolError, "3.2.2.3.4"),
        MalformedPacket(
            "retain available twice in CONNACK", .v5, .server, "20 07 00 00 04 25 00 25 00",
            .duplicateProperty(.retainAvailable), .property(.retainAvailable), 7, .protocolError, "3.2.2.3.5"),
        MalformedPacket(
            "maximum packet size twice in CONNECT", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 02 00 3C 0A 27 00 00 10 00 27 00 00 10 00 00 01 63",
            .duplicateProperty(.maximumPacketSize), .property(.maximumPacketSize), 18, .protocolError, "3.1.2.11.4"),
        MalformedPacket(
            "wildcard subscription available twice in CONNACK", .v5, .server, "20 07 00 00 04 28 01 28 01",
            .duplicateProperty(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 7,
            .protocolError, "3.2.2.3.11"),
        MalformedPacket(
            "subscription identifiers available twice in CONNACK", .v5, .server, "20 07 00 00 04 29 01 29 01",
            .duplicateProperty(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 7,
            .protocolError, "3.2.2.3.12"),
        MalformedPacket(
            "shared subscription available twice in CONNACK", .v5, .server, "20 07 00 00 04 2A 00 2A 00",
            .duplicateProperty(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 7,
            .protocolError, "3.2.2.3.13"),
        MalformedPacket(
            "a topic alias twice, with other properties between", .v5, .client,
            "30 11 00 01 61 0D 23 00 01 26 00 01 6E 00 01 76 23 00 02",
            .duplicateProperty(.topicAlias), .property(.topicAlias), 16, .protocolError, "3.3.2.3.4"),
    ]
}
