import MQTTCodec

extension MalformedPacket {
    /// Text that is not valid UTF-8 or contains U+0000, in each text field.
    static let illFormedText: [MalformedPacket] = [
        MalformedPacket(
            "a topic name with U+0000 in the overlong form C0 80", .v5, .client, "30 05 00 02 C0 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong C1 BF", .v5, .client, "30 05 00 02 C1 BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong E0 9F BF", .v5, .client, "30 06 00 03 E0 9F BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong F0 8F BF BF", .v5, .client, "30 07 00 04 F0 8F BF BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the surrogate U+D800", .v5, .client, "30 06 00 03 ED A0 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the surrogate U+DFFF", .v5, .client, "30 06 00 03 ED BF BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a code point above U+10FFFF", .v5, .client, "30 07 00 04 F4 90 80 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the lead byte F5", .v5, .client, "30 07 00 04 F5 80 80 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the byte FF", .v5, .client, "30 04 00 01 FF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a continuation byte alone", .v5, .client, "30 06 00 03 61 80 61 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a two-byte character cut off", .v5, .client, "30 05 00 02 61 C3 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a three-byte character cut off", .v5, .client, "30 05 00 02 E2 82 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a four-byte character cut off", .v5, .client, "30 06 00 03 F0 9F 98 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a lead byte before ASCII", .v5, .client, "30 06 00 03 C3 28 61 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a second continuation byte that is none", .v5, .client, "30 06 00 03 E2 82 28 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a bad byte behind eight good ones", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name whose last of nine bytes starts a character", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 C3 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name whose last of nine bytes is U+0000", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 00 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a topic name with U+0000", .v5, .client, "30 06 00 03 61 00 62 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a topic name of 3.1.1 with a surrogate", .v311, .client, "30 05 00 03 ED A0 80",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-1]"),
        MalformedPacket(
            "a topic name of 3.1.1 with U+0000", .v311, .server, "30 03 00 01 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-2]"),
        MalformedPacket(
            "a topic name of 3.1 with an overlong character", .v31, .client, "30 04 00 02 C0 AF",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-1] of 3.1.1"),
        MalformedPacket(
            "a protocol name that is not UTF-8", .v5, .client, "10 0E 00 04 4D 51 54 D4 05 02 00 3C 00 00 01 63",
            .malformedUTF8, .protocolName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a client identifier that is not UTF-8", .v5, .client, "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 C3",
            .malformedUTF8, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-4]"),
        MalformedPacket(
            "a client identifier with U+0000", .v5, .client, "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 02 63 00",
            .nullCharacter, .clientID, 13, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a will topic that is not UTF-8", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 FE 00 00",
            .malformedUTF8, .willTopic, 17, .malformedPacket, "[MQTT-3.1.3-11]"),
        MalformedPacket(
            "a will topic with U+0000", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 00 00 00",
            .nullCharacter, .willTopic, 17, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a user name that is not UTF-8", .v5, .client, "10 11 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 01 80",
            .malformedUTF8, .username, 16, .malformedPacket, "[MQTT-3.1.3-12]"),
        MalformedPacket(
            "a user name with U+0000", .v5, .client, "10 12 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 02 75 00",
            .nullCharacter, .username, 16, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a client identifier of 3.1.1 that is not UTF-8", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 FF",
            .malformedUTF8, .clientID, 12, .malformedPacket, "[MQTT-3.1.3-4]"),
        MalformedPacket(
            "a will topic of 3.1.1 that is not UTF-8", .v311, .client,
            "10 12 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 01 FF 00 00",
            .malformedUTF8, .willTopic, 15, .malformedPacket, "[MQTT-3.1.3-10]"),
        MalformedPacket(
            "a user name of 3.1.1 that is not UTF-8", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 FF",
            .malformedUTF8, .username, 15, .malformedPacket, "[MQTT-3.1.3-11]"),
        MalformedPacket(
            "a user name of 3.1.1 with U+0000", .v311, .client, "10 10 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 00",
            .nullCharacter, .username, 15, .malformedPacket, "[MQTT-1.5.3-2]"),
        MalformedPacket(
            "a filter that is not UTF-8", .v5, .client, "82 09 00 01 00 00 03 61 2F C3 00",
            .malformedUTF8, .topicFilter, 5, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a filter with U+0000", .v5, .client, "82 09 00 01 00 00 03 61 2F 00 00",
            .nullCharacter, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-2]"),
        MalformedPacket(
            "a filter of UNSUBSCRIBE that is not UTF-8", .v5, .client, "A2 08 00 01 00 00 03 ED A0 80",
            .malformedUTF8, .topicFilter, 5, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "a filter of 3.1.1 that is not UTF-8", .v311, .client, "82 07 00 01 00 02 C0 80 00",
            .malformedUTF8, .topicFilter, 4, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a filter of UNSUBSCRIBE of 3.1.1 with U+0000", .v311, .client, "A2 05 00 01 00 01 00",
            .nullCharacter, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.3-2]"),
        MalformedPacket(
            "a content type that is not UTF-8", .v5, .client, "30 08 00 01 61 04 03 00 01 FF",
            .malformedUTF8, .property(.contentType), 7, .malformedPacket, "[MQTT-3.3.2-19]"),
        MalformedPacket(
            "a response topic that is not UTF-8", .v5, .client, "30 08 00 01 61 04 08 00 01 C3",
            .malformedUTF8, .property(.responseTopic), 7, .malformedPacket, "[MQTT-3.3.2-13]"),
        MalformedPacket(
            "a response topic with U+0000", .v5, .client, "30 08 00 01 61 04 08 00 01 00",
            .nullCharacter, .property(.responseTopic), 7, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a user property whose name is not UTF-8", .v5, .client, "30 0B 00 01 61 07 26 00 01 80 00 01 76",
            .malformedUTF8, .property(.userProperty), 7, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "a user property whose value is not UTF-8", .v5, .client, "30 0B 00 01 61 07 26 00 01 6E 00 01 80",
            .malformedUTF8, .property(.userProperty), 10, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "a user property whose value has U+0000", .v5, .server, "30 0B 00 01 61 07 26 00 01 6E 00 01 00",
            .nullCharacter, .property(.userProperty), 10, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "an assigned client identifier that is not UTF-8", .v5, .server, "20 07 00 00 04 12 00 01 F8",
            .malformedUTF8, .property(.assignedClientIdentifier), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "an authentication method that is not UTF-8", .v5, .server, "20 07 00 00 04 15 00 01 F8",
            .malformedUTF8, .property(.authenticationMethod), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a response information that is not UTF-8", .v5, .server, "20 07 00 00 04 1A 00 01 F8",
            .malformedUTF8, .property(.responseInformation), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a server reference that is not UTF-8", .v5, .server, "20 07 00 00 04 1C 00 01 F8",
            .malformedUTF8, .property(.serverReference), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a reason string that is not UTF-8", .v5, .server, "20 07 00 00 04 1F 00 01 F8",
            .malformedUTF8, .property(.reasonString), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a reason string of PUBACK with U+0000", .v5, .client, "40 08 00 01 80 04 1F 00 01 00",
            .nullCharacter, .property(.reasonString), 7, .malformedPacket, "[MQTT-1.5.4-2]"),
    ]

    /// Topic names with wildcards, filters with misplaced wildcards, and incomplete shared filters.
    static let topics: [MalformedPacket] = [
        MalformedPacket(
            "a topic name with +", .v5, .client, "30 04 00 01 2B 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with #", .v5, .client, "30 04 00 01 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a/+/b", .v5, .client, "30 08 00 05 61 2F 2B 2F 62 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a#", .v5, .client, "30 05 00 02 61 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a wildcard behind eight characters", .v5, .client,
            "30 0C 00 09 61 62 63 64 65 66 67 68 2B 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with + in 3.1.1", .v311, .client, "30 05 00 03 61 2F 2B",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with # in 3.1.1", .v311, .client, "30 09 00 07 73 70 6F 72 74 2F 23",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with # in 3.1", .v31, .client, "30 03 00 01 23",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2] of 3.1.1"),
        MalformedPacket(
            "a topic name with a wildcard from the server", .v5, .server, "30 06 00 03 61 2F 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a wildcard and an alias", .v5, .client, "30 07 00 01 2B 03 23 00 01",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a will topic with a wildcard", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 03 77 2F 23 00 00",
            .wildcardInTopicName, .willTopic, 17, .malformedPacket, "[MQTT-4.7.0-1]"),
        MalformedPacket(
            "a will topic of 3.1.1 with a wildcard", .v311, .client,
            "10 14 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 03 2B 2F 77 00 00",
            .wildcardInTopicName, .willTopic, 15, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "a response topic with a wildcard", .v5, .client, "30 0A 00 01 61 06 08 00 03 72 2F 2B",
            .wildcardInTopicName, .property(.responseTopic), 7, .malformedPacket, "[MQTT-3.3.2-14]"),
        MalformedPacket(
            "a response topic of a will with a wildcard", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 04 08 00 01 23 00 01 77 00 00",
            .wildcardInTopicName, .property(.responseTopic), 18, .malformedPacket, "[MQTT-4.7.0-1]"),
        MalformedPacket(
            "a PUBLISH without a topic and without an alias", .v5, .client, "30 03 00 00 00",
            .emptyTopicWithoutAlias, .topicName, 2, .protocolError, "3.3.2.1"),
        MalformedPacket(
            "a PUBLISH without a topic whose properties have no alias", .v5, .server, "30 05 00 00 02 01 01",
            .emptyTopicWithoutAlias, .topicName, 2, .protocolError, "3.3.2.1"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 without a topic", .v311, .client, "30 02 00 00",
            .emptyTopic, .topicName, 2, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "a PUBLISH of 3.1 without a topic", .v31, .server, "30 02 00 00",
            .emptyTopic, .topicName, 2, .malformedPacket, "[MQTT-4.7.3-1] of 3.1.1"),
        MalformedPacket(
            "an empty will topic", .v5, .client, "10 13 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 00 00 00",
            .emptyTopic, .willTopic, 17, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty will topic of 3.1.1", .v311, .client, "10 11 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 00 00 00",
            .emptyTopic, .willTopic, 15, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty response topic", .v5, .client, "30 07 00 01 61 03 08 00 00",
            .emptyTopic, .property(.responseTopic), 7, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter", .v5, .client, "82 06 00 01 00 00 00 00",
            .emptyTopic, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter behind a good one", .v5, .client, "82 0A 00 01 00 00 01 61 00 00 00 00",
            .emptyTopic, .topicFilter, 9, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter of UNSUBSCRIBE", .v5, .client, "A2 05 00 01 00 00 00",
            .emptyTopic, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter of 3.1.1", .v311, .client, "82 05 00 01 00 00 00",
            .emptyTopic, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "the filter a#", .v5, .client, "82 08 00 01 00 00 02 61 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter #/a", .v5, .client, "82 09 00 01 00 00 03 23 2F 61 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a/#/b", .v5, .client, "82 0B 00 01 00 00 05 61 2F 23 2F 62 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter ##", .v5, .client, "82 08 00 01 00 00 02 23 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a/b#", .v5, .client, "82 0A 00 01 00 00 04 61 2F 62 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter abcdefgh/#/", .v5, .client, "82 11 00 01 00 00 0B 61 62 63 64 65 66 67 68 2F 23 2F 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a+", .v5, .client, "82 08 00 01 00 00 02 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter +a", .v5, .client, "82 08 00 01 00 00 02 2B 61 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/+b/c", .v5, .client, "82 0C 00 01 00 00 06 61 2F 2B 62 2F 63 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter ++", .v5, .client, "82 08 00 01 00 00 02 2B 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/b+", .v5, .client, "82 0A 00 01 00 00 04 61 2F 62 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter +#", .v5, .client, "82 08 00 01 00 00 02 2B 23 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter /+a", .v5, .client, "82 09 00 01 00 00 03 2F 2B 61 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/#/b in UNSUBSCRIBE", .v5, .client, "A2 0A 00 01 00 00 05 61 2F 23 2F 62",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a+/b in UNSUBSCRIBE", .v5, .client, "A2 09 00 01 00 00 04 61 2B 2F 62",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport/tennis# of 3.1.1", .v311, .client,
            "82 12 00 01 00 0D 73 70 6F 72 74 2F 74 65 6E 6E 69 73 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport/tennis/#/ranking of 3.1.1", .v311, .client,
            "82 1B 00 01 00 16 73 70 6F 72 74 2F 74 65 6E 6E 69 73 2F 23 2F 72 61 6E 6B 69 6E 67 00",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport+ of 3.1.1", .v311, .client, "82 0B 00 01 00 06 73 70 6F 72 74 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-3]"),
        MalformedPacket(
            "the filter a# of 3.1.1 in UNSUBSCRIBE", .v311, .client, "A2 06 00 01 00 02 61 23",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a+ of 3.1", .v31, .client, "82 07 00 01 00 02 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-3] of 3.1.1"),
        MalformedPacket(
            "the filter $share/", .v5, .client, "82 0D 00 01 00 00 07 24 73 68 61 72 65 2F 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-1]"),
        MalformedPacket(
            "the filter $share//a", .v5, .client, "82 0F 00 01 00 00 09 24 73 68 61 72 65 2F 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-1]"),
        MalformedPacket(
            "the filter $share/g", .v5, .client, "82 0E 00 01 00 00 08 24 73 68 61 72 65 2F 67 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g/", .v5, .client, "82 0F 00 01 00 00 09 24 73 68 61 72 65 2F 67 2F 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/+/a", .v5, .client, "82 10 00 01 00 00 0A 24 73 68 61 72 65 2F 2B 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g#/a", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 23 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/#", .v5, .client, "82 0E 00 01 00 00 08 24 73 68 61 72 65 2F 23 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g in UNSUBSCRIBE", .v5, .client, "A2 0D 00 01 00 00 08 24 73 68 61 72 65 2F 67",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g/a#", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 61 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter $share/g/a+", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
    ]
}
