import MQTTCodec

extension MalformedPacket {
    /// Properties with a forbidden value.
    static let propertyValues: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator 02 in PUBLISH", .v5, .client, "30 06 00 01 61 02 01 02",
            .invalidPropertyValue(.payloadFormatIndicator), .property(.payloadFormatIndicator), 7,
            .protocolError, "3.3.2.3.2"),
        MalformedPacket(
            "payload format indicator FF in a will", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 02 01 FF 00 01 77 00 00",
            .invalidPropertyValue(.payloadFormatIndicator), .property(.payloadFormatIndicator), 18,
            .protocolError, "3.1.3.2.3"),
        MalformedPacket(
            "request problem information 02 in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 17 02 00 01 63",
            .invalidPropertyValue(.requestProblemInformation), .property(.requestProblemInformation), 14,
            .protocolError, "3.1.2.11.7"),
        MalformedPacket(
            "request response information 02 in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 19 02 00 01 63",
            .invalidPropertyValue(.requestResponseInformation), .property(.requestResponseInformation), 14,
            .protocolError, "3.1.2.11.6"),
        MalformedPacket(
            "maximum QoS 02 in CONNACK", .v5, .server, "20 05 00 00 02 24 02",
            .invalidPropertyValue(.maximumQoS), .property(.maximumQoS), 6, .protocolError, "3.2.2.3.4"),
        MalformedPacket(
            "retain available 02 in CONNACK", .v5, .server, "20 05 00 00 02 25 02",
            .invalidPropertyValue(.retainAvailable), .property(.retainAvailable), 6, .protocolError, "3.2.2.3.5"),
        MalformedPacket(
            "wildcard subscription available 02 in CONNACK", .v5, .server, "20 05 00 00 02 28 02",
            .invalidPropertyValue(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 6,
            .protocolError, "3.2.2.3.11"),
        MalformedPacket(
            "subscription identifiers available 02 in CONNACK", .v5, .server, "20 05 00 00 02 29 02",
            .invalidPropertyValue(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 6,
            .protocolError, "3.2.2.3.12"),
        MalformedPacket(
            "shared subscription available FF in CONNACK", .v5, .server, "20 05 00 00 02 2A FF",
            .invalidPropertyValue(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 6,
            .protocolError, "3.2.2.3.13"),
        MalformedPacket(
            "receive maximum 00 00 in CONNECT", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 02 00 3C 03 21 00 00 00 01 63",
            .invalidPropertyValue(.receiveMaximum), .property(.receiveMaximum), 14, .protocolError, "3.1.2.11.3"),
        MalformedPacket(
            "receive maximum 00 00 in CONNACK", .v5, .server, "20 06 00 00 03 21 00 00",
            .invalidPropertyValue(.receiveMaximum), .property(.receiveMaximum), 6, .protocolError, "3.2.2.3.3"),
        MalformedPacket(
            "maximum packet size 00 00 00 00 in CONNECT", .v5, .client,
            "10 13 00 04 4D 51 54 54 05 02 00 3C 05 27 00 00 00 00 00 01 63",
            .invalidPropertyValue(.maximumPacketSize), .property(.maximumPacketSize), 14, .protocolError, "3.1.2.11.4"),
        MalformedPacket(
            "maximum packet size 00 00 00 00 in CONNACK", .v5, .server, "20 08 00 00 05 27 00 00 00 00",
            .invalidPropertyValue(.maximumPacketSize), .property(.maximumPacketSize), 6, .protocolError, "3.2.2.3.6"),
        MalformedPacket(
            "subscription identifier 00 in SUBSCRIBE", .v5, .client, "82 09 00 01 02 0B 00 00 01 61 00",
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier), 6,
            .protocolError, "3.8.2.1.2"),
        MalformedPacket(
            "topic alias 0", .v5, .client, "30 07 00 01 61 03 23 00 00",
            .invalidPropertyValue(.topicAlias), .property(.topicAlias), 7, .topicAliasInvalid, "[MQTT-3.3.2-8]"),
        MalformedPacket(
            "topic alias 0 in place of a topic", .v5, .server, "30 06 00 00 03 23 00 00",
            .invalidPropertyValue(.topicAlias), .property(.topicAlias), 6, .topicAliasInvalid, "[MQTT-3.3.2-8]"),
        MalformedPacket(
            "subscription identifier 0 in a PUBLISH", .v5, .server, "30 06 00 01 61 02 0B 00",
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier), 7,
            .protocolError, "3.3.2.3.8"),
        MalformedPacket(
            "a subscription identifier in two bytes that needs one", .v5, .server, "30 07 00 01 61 03 0B 81 00",
            .variableByteIntegerNotMinimal, .property(.subscriptionIdentifier), 7, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a subscription identifier of five bytes", .v5, .client, "82 0D 00 01 06 0B FF FF FF FF 01 00 01 61 00",
            .variableByteIntegerTooLong, .property(.subscriptionIdentifier), 6, .malformedPacket, "1.5.5"),
    ]

    /// Property identifiers that do not exist or are not in their shortest form.
    static let propertyIdentifiers: [MalformedPacket] = [
        MalformedPacket(
            "property 00", .v5, .client, "30 06 00 01 61 02 00 00",
            .unknownProperty(0), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 04", .v5, .client, "30 06 00 01 61 02 04 00",
            .unknownProperty(4), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 10", .v5, .client, "30 06 00 01 61 02 10 00",
            .unknownProperty(16), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 14", .v5, .client, "30 06 00 01 61 02 14 00",
            .unknownProperty(20), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 2B", .v5, .client, "30 06 00 01 61 02 2B 00",
            .unknownProperty(43), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 7F", .v5, .client, "30 06 00 01 61 02 7F 00",
            .unknownProperty(127), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 80 01", .v5, .client, "30 07 00 01 61 03 80 01 00",
            .unknownProperty(128), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property FF FF FF 7F", .v5, .client, "30 09 00 01 61 05 FF FF FF 7F 00",
            .unknownProperty(268_435_455), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "an unknown property behind a good one", .v5, .server, "20 07 00 00 04 24 01 2B 00",
            .unknownProperty(43), .properties, 7, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "the identifier of a user property in two bytes", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 A6 00 00 01 6E 00 01 76 00 01 63",
            .variableByteIntegerNotMinimal, .properties, 13, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property identifier of five bytes", .v5, .client, "40 09 00 01 00 05 FF FF FF FF 7F",
            .variableByteIntegerTooLong, .properties, 6, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a property identifier that the list cuts off", .v5, .server, "E0 03 00 01 80",
            .truncated, .properties, 4, .malformedPacket, "2.2.2.2"),
    ]

    /// Property lists with a wrong length, and lists and values that end too early.
    static let propertyLengths: [MalformedPacket] = [
        MalformedPacket(
            "a property length beyond the end of CONNECT", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 02 00 3C 7F 00 01 63",
            .truncated, .propertyLength, 12, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length of a will beyond the end of CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 00 01 77 00 00",
            .truncated, .propertyLength, 16, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of CONNACK", .v5, .server, "20 03 00 00 05",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBLISH", .v5, .client, "30 06 00 01 61 03 01 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBACK", .v5, .client, "40 04 00 01 00 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBREC", .v5, .server, "50 06 00 01 00 03 1F 00",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBREL", .v5, .client, "62 04 00 01 00 7F",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBCOMP", .v5, .server, "70 04 00 01 92 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of SUBSCRIBE", .v5, .client, "82 07 00 01 09 00 01 61 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of SUBACK", .v5, .server, "90 04 00 01 02 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of UNSUBSCRIBE", .v5, .client, "A2 06 00 01 04 00 01 61",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of UNSUBACK", .v5, .server, "B0 04 00 01 02 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of DISCONNECT", .v5, .server, "E0 02 00 01",
            .truncated, .propertyLength, 3, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of AUTH", .v5, .client, "F0 02 18 06",
            .truncated, .propertyLength, 3, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "the largest property length there can be", .v5, .client, "30 07 00 01 61 FF FF FF 7F",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length of 0 in too many bytes in CONNECT", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 80 00 00 01 63",
            .variableByteIntegerNotMinimal, .propertyLength, 12, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in CONNACK", .v5, .server, "20 04 00 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 4, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in PUBLISH", .v5, .server, "30 06 00 01 61 80 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 5, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in PUBACK", .v5, .client, "40 05 00 01 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 5, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in SUBSCRIBE", .v5, .client, "82 08 00 01 80 00 00 01 61 00",
            .variableByteIntegerNotMinimal, .propertyLength, 4, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in DISCONNECT", .v5, .client, "E0 03 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 3, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in a will", .v5, .client,
            "10 15 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 80 00 00 01 77 00 00",
            .variableByteIntegerNotMinimal, .propertyLength, 16, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of five bytes", .v5, .client, "30 08 00 01 61 FF FF FF FF 01",
            .variableByteIntegerTooLong, .propertyLength, 5, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a property length that the packet cuts off", .v5, .client, "30 04 00 01 61 80",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a byte that the property length cuts off", .v5, .client, "30 05 00 01 61 01 01",
            .truncated, .property(.payloadFormatIndicator), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "two bytes that the property length cuts off", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 21 00 00 01 63",
            .truncated, .property(.receiveMaximum), 14, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "four bytes that the property length cuts off", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 11 00 00 01 00 01 63",
            .truncated, .property(.sessionExpiryInterval), 14, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a variable byte integer that the property length cuts off", .v5, .client,
            "82 09 00 01 02 0B FF 00 01 61 00",
            .truncated, .property(.subscriptionIdentifier), 6, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a text that the property length cuts off", .v5, .server, "90 08 00 01 04 1F 00 05 72 00",
            .truncated, .property(.reasonString), 6, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "the length of a text that the property length cuts off", .v5, .client, "30 06 00 01 61 02 03 00",
            .truncated, .property(.contentType), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "bytes that the property length cuts off", .v5, .client, "30 08 00 01 61 04 09 00 02 01",
            .truncated, .property(.correlationData), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a user property that the property length cuts off behind its name", .v5, .client,
            "A2 0A 00 01 04 26 00 01 6E 00 01 61",
            .truncated, .property(.userProperty), 9, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a user property that the property length cuts off in its value", .v5, .server,
            "70 0B 00 01 00 07 26 00 01 6E 00 02 76",
            .truncated, .property(.userProperty), 10, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "more user properties in a PUBLISH than the limit", .v5, .client,
            "30 19 00 01 61 15 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76",
            .tooManyProperties(limit: 2), .property(.userProperty), 20,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
        MalformedPacket(
            "three filters where two are the limit", .v311, .client, "82 0E 00 01 00 01 61 00 00 01 62 00 00 01 63 00",
            .tooManyFilters(limit: 2), .topicFilter, 12, .quotaExceeded, "the decoder's limit", limits: .twoFilters),
        MalformedPacket(
            "three filters to unsubscribe where two are the limit", .v5, .client,
            "A2 0C 00 01 00 00 01 61 00 01 62 00 01 63", .tooManyFilters(limit: 2), .topicFilter, 11, .quotaExceeded,
            "the decoder's limit", limits: .twoFilters),
        MalformedPacket(
            "more properties in a PUBREC than the limit", .v5, .server,
            "50 16 00 01 00 12 1F 00 01 72 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76",
            .tooManyProperties(limit: 2), .property(.userProperty), 17,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
        MalformedPacket(
            "more properties in a CONNECT than the limit", .v5, .client,
            "10 19 00 04 4D 51 54 54 05 02 00 3C 0B 11 00 00 00 01 21 00 01 22 00 01 00 01 63",
            .tooManyProperties(limit: 2), .property(.topicAliasMaximum), 21,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
    ]
}
