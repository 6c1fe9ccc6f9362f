import MQTTCodec
import TestSupport
import Testing

/// A packet value that must not be encoded, and the error that the encoder must throw.
struct UnwritablePacket: CustomTestStringConvertible, Sendable {
    /// What is wrong with the packet. Each row has another name.
    let name: String
    /// The version of the encoder.
    let version: ProtocolVersion
    /// The endpoint that sends the packet.
    let sender: Endpoint
    let packet: Packet
    let violation: Violation
    let field: PacketField
    /// The maximum packet size of the peer.
    let limit: Int

    init(
        _ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ packet: Packet, _ violation: Violation,
        _ field: PacketField, limit: Int = PacketEncoder.largestPacketSize
    ) {
        self.name = name
        self.version = version
        self.sender = sender
        self.packet = packet
        self.violation = violation
        self.field = field
        self.limit = limit
    }

    var testDescription: String { "\(name) (\(version))" }
    var encoder: PacketEncoder { PacketEncoder(version: version, sender: sender, maximumPacketSize: limit) }
}

/// The encoder refuses packets that a decoder would refuse. No value exists for packet id 0, QoS 3 and invalid UTF-8.
@Suite
struct MalformedEncodingTests {
    @Test(arguments: table)
    func `encoding an invalid packet throws an error with the expected violation and field`(_ row: UnwritablePacket)
        throws
    {
        var buffer = PacketBuffer()
        let error = try #require(refusal(of: row, into: &buffer))
        #expect(error.packet == row.packet.type)
        #expect(error.violation == row.violation)
        #expect(error.field == row.field)
        let isEmpty = buffer.isEmpty
        #expect(isEmpty)
    }

    @Test(arguments: table)
    func `a packet that cannot be encoded leaves the buffer unchanged`(_ row: UnwritablePacket) throws {
        // A packet was written and partly sent before, so that the next packet starts in the middle of the memory.
        let good = Packet.publish(Publish(topic: "before", payload: Array(0...200)))
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: row.version, sender: row.sender)
        try encoder.encode(good, into: &buffer)
        buffer.removeFirst(5)
        let before = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        _ = try #require(refusal(of: row, into: &buffer))
        #expect(buffer.withBytes { $0.withUnsafeBytes { Array($0) } } == before)

        // The next packet is written directly after the bytes from before.
        try encoder.encode(good, into: &buffer)
        let both = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        let whole = try encode(good, row.version, from: row.sender)
        #expect(both == before + whole)
    }

    @Test func `a packet of exactly the peer's maximum packet size is encoded`() throws {
        for limit in 8...9 {
            var buffer = PacketBuffer()
            let encoder = PacketEncoder(version: .v311, sender: .client, maximumPacketSize: limit)
            let payload = [UInt8](repeating: 0, count: limit - 5)
            try encoder.encode(.publish(Publish(topic: "a", payload: payload)), into: &buffer)
            let count = buffer.count
            #expect(count == limit)
        }
    }

    @Test func `the table of invalid packets contains no duplicates`() {
        #expect(Set(Self.table.map(\.name)).count == Self.table.count)
        #expect(Set(Self.table.map { "\($0.version) \($0.sender) \($0.packet) \($0.limit)" }).count == Self.table.count)
    }

    private func refusal(of row: UnwritablePacket, into buffer: inout PacketBuffer) -> EncodeError? {
        do throws(EncodeError) {
            try row.encoder.encode(row.packet, into: &buffer)
            return nil
        } catch {
            return error
        }
    }
}

extension MalformedEncodingTests {
    static let table = [directions, messages, propertyLists, subscriptions, connections, results].flatMap { $0 }

    /// A text with one byte more than a length of two bytes allows.
    private static let tooLong = String(repeating: "a", count: 65_536)

    /// Packets that only the other endpoint may send, or that only MQTT 5 has.
    static let directions: [UnwritablePacket] = [
        UnwritablePacket(
            "a CONNECT of a server", .v5, .server, .connect(Connect(version: .v5, clientID: "c")),
            .wrongSender, .fixedHeader),
        UnwritablePacket("a CONNACK of a client", .v5, .client, .connAck(ConnAck()), .wrongSender, .fixedHeader),
        UnwritablePacket("a SUBSCRIBE of a server", .v5, .server, subscribe("a"), .wrongSender, .fixedHeader),
        UnwritablePacket(
            "a SUBACK of a client", .v5, .client, .subAck(SubAck(packetID: 1, reasonCodes: [.success])),
            .wrongSender, .fixedHeader),
        UnwritablePacket("an UNSUBSCRIBE of a server", .v5, .server, unsubscribe("a"), .wrongSender, .fixedHeader),
        UnwritablePacket(
            "an UNSUBACK of a client", .v5, .client, .unsubAck(UnsubAck(packetID: 1, reasonCodes: [.success])),
            .wrongSender, .fixedHeader),
        UnwritablePacket("a PINGREQ of a server", .v5, .server, .pingReq, .wrongSender, .fixedHeader),
        UnwritablePacket("a PINGRESP of a client", .v5, .client, .pingResp, .wrongSender, .fixedHeader),
        UnwritablePacket(
            "a SUBSCRIBE of a server of 3.1.1", .v311, .server, subscribe("a"), .wrongSender, .fixedHeader),
        UnwritablePacket("a PINGRESP of a client of 3.1", .v31, .client, .pingResp, .wrongSender, .fixedHeader),
        UnwritablePacket(
            "a DISCONNECT of a server of 3.1.1", .v311, .server, .disconnect(Disconnect()), .wrongSender, .fixedHeader),
        UnwritablePacket(
            "a DISCONNECT of a server of 3.1", .v31, .server, .disconnect(Disconnect()), .wrongSender, .fixedHeader),
        UnwritablePacket(
            "an AUTH of 3.1.1", .v311, .client,
            .auth(Auth(reasonCode: .continueAuthentication, properties: [.authenticationMethod("m")])),
            .notInThisVersion, .fixedHeader),
        UnwritablePacket(
            "an AUTH of 3.1", .v31, .server,
            .auth(Auth(reasonCode: .continueAuthentication, properties: [.authenticationMethod("m")])),
            .notInThisVersion, .fixedHeader),
    ]

    /// PUBLISH.
    static let messages: [UnwritablePacket] = [
        UnwritablePacket("a topic name with +", .v5, .client, publish("a/+"), .wildcardInTopicName, .topicName),
        UnwritablePacket("a topic name with #", .v311, .client, publish("#"), .wildcardInTopicName, .topicName),
        UnwritablePacket("a topic name with U+0000", .v5, .client, publish("a\u{0}"), .nullCharacter, .topicName),
        UnwritablePacket(
            "a topic name with U+0000 behind eight characters", .v31, .client, publish("abcdefgh\u{0}"),
            .nullCharacter, .topicName),
        UnwritablePacket("a topic name with no character", .v311, .client, publish(""), .emptyTopic, .topicName),
        UnwritablePacket("no topic and no alias", .v5, .client, publish(""), .emptyTopicWithoutAlias, .topicName),
        UnwritablePacket(
            "no topic, and properties without an alias", .v5, .server, publish("", [.contentType("x")]),
            .emptyTopicWithoutAlias, .topicName),
        UnwritablePacket(
            "a topic name of 65,536 bytes", .v5, .client, publish(tooLong), .fieldTooLong(65_536), .topicName),
        UnwritablePacket(
            "a topic name of 65,536 bytes before properties", .v5, .client, publish(tooLong, [.topicAlias(1)]),
            .fieldTooLong(65_536), .topicName),
        UnwritablePacket(
            "a topic name of 65,537 bytes in fewer characters", .v311, .client,
            publish(String(repeating: "é", count: 32_768) + "a"),
            .fieldTooLong(65_537), .topicName),
        UnwritablePacket(
            "a wildcard before properties", .v5, .client, publish("#", [.contentType("x")]),
            .wildcardInTopicName, .topicName),
        UnwritablePacket(
            "properties of a message of 3.1.1", .v311, .client, publish("a", [.contentType("x")]),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "properties of a message of 3.1", .v31, .server, publish("a", [.userProperty(name: "n", value: "v")]),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "an alias in place of a topic in 3.1.1", .v311, .client, publish("", [.topicAlias(1)]),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "a message one byte over the limit of the peer", .v311, .client,
            .publish(Publish(topic: "a", payload: [1, 2, 3])),
            .packetTooLarge(size: 8, limit: 7), .remainingLength, limit: 7),
        UnwritablePacket(
            "a message with properties one byte over the limit", .v5, .client, publish("a", [.topicAlias(1)]),
            .packetTooLarge(size: 9, limit: 8), .remainingLength, limit: 8),
        UnwritablePacket(
            "a packet over a limit of 0", .v5, .client, .pingReq,
            .packetTooLarge(size: 2, limit: 0), .remainingLength, limit: 0),
        UnwritablePacket(
            "a packet over a negative limit", .v5, .server, .pingResp,
            .packetTooLarge(size: 2, limit: -1), .remainingLength, limit: -1),
    ]

    /// Properties in the wrong packet, from the wrong sender, repeated, or with a forbidden value.
    static let propertyLists: [UnwritablePacket] = [
        UnwritablePacket(
            "subscription identifier from a client", .v5, .client, publish("a", [.subscriptionIdentifier(1)]),
            .propertyOfOtherEnd(.subscriptionIdentifier), .property(.subscriptionIdentifier)),
        UnwritablePacket(
            "session expiry interval in a message", .v5, .client, publish("a", [.sessionExpiryInterval(1)]),
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval)),
        UnwritablePacket(
            "session expiry interval in a DISCONNECT of a server", .v5, .server,
            .disconnect(Disconnect(properties: [.sessionExpiryInterval(0)])),
            .propertyOfOtherEnd(.sessionExpiryInterval), .property(.sessionExpiryInterval)),
        UnwritablePacket(
            "reason string in a message", .v5, .server, publish("a", [.reasonString("r")]),
            .propertyNotAllowed(.reasonString), .property(.reasonString)),
        UnwritablePacket(
            "reason string in a SUBSCRIBE", .v5, .client, subscribe("a", [.reasonString("r")]),
            .propertyNotAllowed(.reasonString), .property(.reasonString)),
        UnwritablePacket(
            "topic alias in a PUBACK", .v5, .client,
            .pubAck(Acknowledgement(packetID: 1, properties: [.topicAlias(1)])),
            .propertyNotAllowed(.topicAlias), .property(.topicAlias)),
        UnwritablePacket(
            "server reference in an AUTH", .v5, .server,
            .auth(Auth(reasonCode: .success, properties: [.authenticationMethod("m"), .serverReference("s")])),
            .propertyNotAllowed(.serverReference), .property(.serverReference)),
        UnwritablePacket(
            "server keep-alive in a CONNECT", .v5, .client, connect([.serverKeepAlive(1)]),
            .propertyNotAllowed(.serverKeepAlive), .property(.serverKeepAlive)),
        UnwritablePacket(
            "will delay interval in a CONNECT", .v5, .client, connect([.willDelayInterval(1)]),
            .propertyNotAllowed(.willDelayInterval), .property(.willDelayInterval)),
        UnwritablePacket(
            "topic alias in a will", .v5, .client, will("w", [.topicAlias(1)]),
            .propertyNotAllowed(.topicAlias), .property(.topicAlias)),
        UnwritablePacket(
            "request problem information in a CONNACK", .v5, .server,
            .connAck(ConnAck(properties: [.requestProblemInformation(true)])),
            .propertyNotAllowed(.requestProblemInformation), .property(.requestProblemInformation)),
        UnwritablePacket(
            "maximum QoS in an UNSUBACK", .v5, .server,
            .unsubAck(UnsubAck(packetID: 1, reasonCodes: [.success], properties: [.maximumQoS(.atMostOnce)])),
            .propertyNotAllowed(.maximumQoS), .property(.maximumQoS)),
        UnwritablePacket(
            "two topic aliases", .v5, .client, publish("a", [.topicAlias(1), .topicAlias(1)]),
            .duplicateProperty(.topicAlias), .property(.topicAlias)),
        UnwritablePacket(
            "two content types with another property between", .v5, .server,
            publish("a", [.contentType("x"), .topicAlias(1), .contentType("y")]),
            .duplicateProperty(.contentType), .property(.contentType)),
        UnwritablePacket(
            "two subscription identifiers in a SUBSCRIBE", .v5, .client,
            subscribe("a", [.subscriptionIdentifier(1), .subscriptionIdentifier(2)]),
            .duplicateProperty(.subscriptionIdentifier), .property(.subscriptionIdentifier)),
        UnwritablePacket(
            "two reason strings", .v5, .client,
            .pubRec(Acknowledgement(packetID: 1, properties: [.reasonString("a"), .reasonString("b")])),
            .duplicateProperty(.reasonString), .property(.reasonString)),
        UnwritablePacket(
            "two receive maximums", .v5, .client, connect([.receiveMaximum(1), .receiveMaximum(1)]),
            .duplicateProperty(.receiveMaximum), .property(.receiveMaximum)),
        UnwritablePacket(
            "topic alias 0", .v5, .client, publish("a", [.topicAlias(0)]),
            .invalidPropertyValue(.topicAlias), .property(.topicAlias)),
        UnwritablePacket(
            "topic alias 0 in place of a topic", .v5, .client, publish("", [.topicAlias(0)]),
            .invalidPropertyValue(.topicAlias), .property(.topicAlias)),
        UnwritablePacket(
            "subscription identifier 0", .v5, .server, publish("a", [.subscriptionIdentifier(0)]),
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier)),
        UnwritablePacket(
            "subscription identifier of 29 bits", .v5, .client, subscribe("a", [.subscriptionIdentifier(268_435_456)]),
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier)),
        UnwritablePacket(
            "receive maximum 0", .v5, .client, connect([.receiveMaximum(0)]),
            .invalidPropertyValue(.receiveMaximum), .property(.receiveMaximum)),
        UnwritablePacket(
            "maximum packet size 0", .v5, .client, connect([.maximumPacketSize(0)]),
            .invalidPropertyValue(.maximumPacketSize), .property(.maximumPacketSize)),
        UnwritablePacket(
            "maximum QoS 2", .v5, .server, .connAck(ConnAck(properties: [.maximumQoS(.exactlyOnce)])),
            .invalidPropertyValue(.maximumQoS), .property(.maximumQoS)),
        UnwritablePacket(
            "a response topic with a wildcard", .v5, .client, publish("a", [.responseTopic("r/#")]),
            .wildcardInTopicName, .property(.responseTopic)),
        UnwritablePacket(
            "an empty response topic", .v5, .client, publish("a", [.responseTopic("")]),
            .emptyTopic, .property(.responseTopic)),
        UnwritablePacket(
            "a content type with U+0000", .v5, .client, publish("a", [.contentType("\u{0}")]),
            .nullCharacter, .property(.contentType)),
        UnwritablePacket(
            "a name of a user property with U+0000", .v5, .client,
            publish("a", [.userProperty(name: "\u{0}", value: "v")]),
            .nullCharacter, .property(.userProperty)),
        UnwritablePacket(
            "a value of a user property with U+0000", .v5, .server,
            publish("a", [.userProperty(name: "n", value: "v\u{0}")]),
            .nullCharacter, .property(.userProperty)),
        UnwritablePacket(
            "a value of a user property of 65,536 bytes", .v5, .client,
            publish("a", [.userProperty(name: "n", value: tooLong)]),
            .fieldTooLong(65_536), .property(.userProperty)),
        UnwritablePacket(
            "a reason string of 65,536 bytes", .v5, .server,
            .disconnect(Disconnect(properties: [.reasonString(tooLong)])),
            .fieldTooLong(65_536), .property(.reasonString)),
        UnwritablePacket(
            "correlation data of 65,536 bytes", .v5, .client, publish("a", [.correlationData(Array(tooLong.utf8))]),
            .fieldTooLong(65_536), .property(.correlationData)),
        UnwritablePacket(
            "authentication data of 65,536 bytes", .v5, .client,
            connect([.authenticationMethod("m"), .authenticationData(SecretBytes(tooLong))]),
            .fieldTooLong(65_536), .property(.authenticationData)),
        UnwritablePacket(
            "authentication data without a method in a CONNECT", .v5, .client,
            connect([.authenticationData(SecretBytes("d"))]),
            .authenticationDataWithoutMethod, .properties),
        UnwritablePacket(
            "a bad property behind good ones", .v5, .client,
            connect([.sessionExpiryInterval(1), .userProperty(name: "n", value: "v"), .topicAlias(1)]),
            .propertyNotAllowed(.topicAlias), .property(.topicAlias)),
    ]

    /// SUBSCRIBE, UNSUBSCRIBE and their acknowledgements.
    static let subscriptions: [UnwritablePacket] = [
        UnwritablePacket(
            "a SUBSCRIBE without a filter", .v5, .client, .subscribe(Subscribe(packetID: 1, subscriptions: [])),
            .noEntries, .topicFilter),
        UnwritablePacket(
            "a SUBSCRIBE of 3.1.1 without a filter", .v311, .client,
            .subscribe(Subscribe(packetID: 1, subscriptions: [])),
            .noEntries, .topicFilter),
        UnwritablePacket(
            "an UNSUBSCRIBE without a filter", .v5, .client, .unsubscribe(Unsubscribe(packetID: 1, filters: [])),
            .noEntries, .topicFilter),
        UnwritablePacket("an empty filter", .v5, .client, subscribe(""), .emptyTopic, .topicFilter),
        UnwritablePacket("the filter a#", .v5, .client, subscribe("a#"), .misplacedMultiLevelWildcard, .topicFilter),
        UnwritablePacket(
            "the filter #/a", .v311, .client, subscribe("#/a"), .misplacedMultiLevelWildcard, .topicFilter),
        UnwritablePacket("the filter a+", .v5, .client, subscribe("a+"), .misplacedSingleLevelWildcard, .topicFilter),
        UnwritablePacket(
            "the filter +a/b", .v31, .client, subscribe("+a/b"), .misplacedSingleLevelWildcard, .topicFilter),
        UnwritablePacket("a filter with U+0000", .v5, .client, subscribe("a\u{0}"), .nullCharacter, .topicFilter),
        UnwritablePacket("the filter $share/", .v5, .client, subscribe("$share/"), .invalidSharedFilter, .topicFilter),
        UnwritablePacket(
            "the filter $share//a", .v5, .client, subscribe("$share//a"), .invalidSharedFilter, .topicFilter),
        UnwritablePacket(
            "the filter $share/g", .v5, .client, subscribe("$share/g"), .invalidSharedFilter, .topicFilter),
        UnwritablePacket(
            "the filter $share/g/", .v5, .client, subscribe("$share/g/"), .invalidSharedFilter, .topicFilter),
        UnwritablePacket(
            "the filter $share/+/a", .v5, .client, subscribe("$share/+/a"), .invalidSharedFilter, .topicFilter),
        UnwritablePacket(
            "the filter $share/g/a#", .v5, .client, subscribe("$share/g/a#"),
            .misplacedMultiLevelWildcard, .topicFilter),
        UnwritablePacket(
            "a filter of 65,536 bytes", .v5, .client, subscribe(tooLong), .fieldTooLong(65_536), .topicFilter),
        UnwritablePacket(
            "a bad filter behind a good one", .v5, .client,
            .subscribe(
                Subscribe(
                    packetID: 1,
                    subscriptions: [Subscription("a", qos: .atMostOnce), Subscription("##", qos: .atMostOnce)])),
            .misplacedMultiLevelWildcard, .topicFilter),
        UnwritablePacket(
            "the filter a/#/b in UNSUBSCRIBE", .v5, .client, unsubscribe("a/#/b"),
            .misplacedMultiLevelWildcard, .topicFilter),
        UnwritablePacket(
            "the filter a/b+ in UNSUBSCRIBE", .v311, .client, unsubscribe("a/b+"),
            .misplacedSingleLevelWildcard, .topicFilter),
        UnwritablePacket(
            "the filter $share/g in UNSUBSCRIBE", .v5, .client, unsubscribe("$share/g"),
            .invalidSharedFilter, .topicFilter),
        UnwritablePacket("an empty filter in UNSUBSCRIBE", .v311, .client, unsubscribe(""), .emptyTopic, .topicFilter),
        UnwritablePacket(
            "no-local on a shared subscription", .v5, .client,
            .subscribe(
                Subscribe(packetID: 1, subscriptions: [Subscription("$share/g/a", qos: .atMostOnce, isNoLocal: true)])),
            .noLocalOnSharedSubscription, .subscriptionOptions),
        UnwritablePacket(
            "no-local in 3.1.1", .v311, .client,
            .subscribe(Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce, isNoLocal: true)])),
            .notInThisVersion, .subscriptionOptions),
        UnwritablePacket(
            "retain-as-published in 3.1.1", .v311, .client,
            .subscribe(
                Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce, isRetainAsPublished: true)])),
            .notInThisVersion, .subscriptionOptions),
        UnwritablePacket(
            "retain handling in 3.1", .v31, .client,
            .subscribe(
                Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce, retainHandling: .sendIfNew)])
            ),
            .notInThisVersion, .subscriptionOptions),
        UnwritablePacket(
            "properties of a SUBSCRIBE of 3.1.1", .v311, .client, subscribe("a", [.subscriptionIdentifier(1)]),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "properties of an UNSUBSCRIBE of 3.1.1", .v311, .client,
            unsubscribe("a", [.userProperty(name: "n", value: "v")]),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "a SUBACK without a code", .v5, .server, .subAck(SubAck(packetID: 1, reasonCodes: [])),
            .noEntries, .reasonCode),
        UnwritablePacket(
            "a SUBACK with a code of PUBACK", .v5, .server,
            .subAck(SubAck(packetID: 1, reasonCodes: [.success, .noMatchingSubscribers])),
            .invalidReasonCode(0x10), .reasonCode),
        UnwritablePacket(
            "a SUBACK of 3.1.1 with a code of 5", .v311, .server,
            .subAck(SubAck(packetID: 1, reasonCodes: [.notAuthorized])),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "an UNSUBACK without a code", .v5, .server, .unsubAck(UnsubAck(packetID: 1)), .noEntries, .reasonCode),
        UnwritablePacket(
            "an UNSUBACK with a code of SUBACK", .v5, .server,
            .unsubAck(UnsubAck(packetID: 1, reasonCodes: [.grantedQoS1])),
            .invalidReasonCode(0x01), .reasonCode),
        UnwritablePacket(
            "an UNSUBACK of 3.1.1 with a code", .v311, .server,
            .unsubAck(UnsubAck(packetID: 1, reasonCodes: [.success])),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "properties of an UNSUBACK of 3.1.1", .v311, .server,
            .unsubAck(UnsubAck(packetID: 1, properties: [.reasonString("r")])),
            .notInThisVersion, .properties),
    ]

    /// CONNECT and CONNACK. A CONNECT has its own version, which may differ from the version of the encoder.
    static let connections: [UnwritablePacket] = [
        UnwritablePacket(
            "a password without a user name in 3.1.1", .v5, .client,
            .connect(Connect(version: .v311, clientID: "c", password: SecretBytes("p"))),
            .passwordWithoutUsername, .password),
        UnwritablePacket(
            "a password without a user name in 3.1", .v31, .client,
            .connect(Connect(version: .v31, clientID: "c", password: SecretBytes("p"))),
            .passwordWithoutUsername, .password),
        UnwritablePacket(
            "an empty identifier that keeps its session in 3.1.1", .v311, .client,
            .connect(Connect(version: .v311, clientID: "", isCleanStart: false)),
            .emptyClientID, .clientID),
        UnwritablePacket(
            "an empty identifier in 3.1", .v5, .client, .connect(Connect(version: .v31, clientID: "")),
            .emptyClientID, .clientID),
        UnwritablePacket(
            "an identifier with U+0000", .v5, .client, .connect(Connect(version: .v5, clientID: "\u{0}")),
            .nullCharacter, .clientID),
        UnwritablePacket(
            "an identifier of 65,536 bytes", .v5, .client, .connect(Connect(version: .v5, clientID: tooLong)),
            .fieldTooLong(65_536), .clientID),
        UnwritablePacket(
            "a user name with U+0000", .v311, .client,
            .connect(Connect(version: .v311, clientID: "c", username: "u\u{0}")),
            .nullCharacter, .username),
        UnwritablePacket(
            "a user name of 65,536 bytes", .v5, .client,
            .connect(Connect(version: .v5, clientID: "c", username: tooLong)),
            .fieldTooLong(65_536), .username),
        UnwritablePacket(
            "a password of 65,536 bytes", .v5, .client,
            .connect(Connect(version: .v5, clientID: "c", password: SecretBytes(tooLong))),
            .fieldTooLong(65_536), .password),
        UnwritablePacket("a will topic with a wildcard", .v5, .client, will("w/+"), .wildcardInTopicName, .willTopic),
        UnwritablePacket("an empty will topic", .v5, .client, will(""), .emptyTopic, .willTopic),
        UnwritablePacket("a will topic with U+0000", .v5, .client, will("\u{0}"), .nullCharacter, .willTopic),
        UnwritablePacket(
            "a will payload of 65,536 bytes", .v5, .client,
            .connect(
                Connect(
                    version: .v5, clientID: "c",
                    will: Connect.Will(topic: "w", payload: Array(tooLong.utf8)))),
            .fieldTooLong(65_536), .willPayload),
        UnwritablePacket(
            "properties of a CONNECT of 3.1.1", .v5, .client,
            .connect(Connect(version: .v311, clientID: "c", properties: [.receiveMaximum(1)])),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "properties of a will of 3.1.1", .v5, .client,
            .connect(
                Connect(
                    version: .v311, clientID: "c",
                    will: Connect.Will(
                        topic: "w", payload: [],
                        properties: [.willDelayInterval(1)]))),
            .notInThisVersion, .properties),
        UnwritablePacket(
            "a refusal with a session", .v5, .server, .connAck(ConnAck(isSessionPresent: true, reasonCode: .banned)),
            .sessionPresentInRefusal, .acknowledgeFlags),
        UnwritablePacket(
            "a refusal of 3.1.1 with a session", .v311, .server,
            .connAck(ConnAck(isSessionPresent: true, reasonCode: .notAuthorized)),
            .sessionPresentInRefusal, .acknowledgeFlags),
        UnwritablePacket(
            "a session in 3.1, whose CONNACK cannot tell of one", .v31, .server,
            .connAck(ConnAck(isSessionPresent: true)),
            .notInThisVersion, .acknowledgeFlags),
        UnwritablePacket(
            "a CONNACK with a code of SUBACK", .v5, .server, .connAck(ConnAck(reasonCode: .grantedQoS1)),
            .invalidReasonCode(0x01), .reasonCode),
        UnwritablePacket(
            "a CONNACK of 3.1.1 with a code that has no return code", .v311, .server,
            .connAck(ConnAck(reasonCode: .quotaExceeded)),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "properties of a CONNACK of 3.1.1", .v311, .server,
            .connAck(ConnAck(properties: [.retainAvailable(false)])),
            .notInThisVersion, .properties),
    ]

    /// Reason codes of acknowledgements, DISCONNECT and AUTH.
    static let results: [UnwritablePacket] = [
        UnwritablePacket(
            "a failure in a PUBACK of 3.1.1", .v311, .client,
            .pubAck(Acknowledgement(packetID: 1, reasonCode: .quotaExceeded)),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "a failure in a PUBREC of 3.1", .v31, .server,
            .pubRec(Acknowledgement(packetID: 1, reasonCode: .notAuthorized)),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "properties of a PUBACK of 3.1.1", .v311, .client,
            .pubAck(Acknowledgement(packetID: 1, properties: [.reasonString("r")])), .notInThisVersion, .properties),
        UnwritablePacket(
            "properties of a DISCONNECT of 3.1.1", .v311, .client,
            .disconnect(Disconnect(properties: [.sessionExpiryInterval(0)])), .notInThisVersion, .properties),
        UnwritablePacket(
            "a client that knows of no subscribers", .v5, .client,
            .pubAck(Acknowledgement(packetID: 1, reasonCode: .noMatchingSubscribers)),
            .invalidReasonCode(0x10), .reasonCode),
        UnwritablePacket(
            "a PUBREC with a code of PUBREL", .v5, .server,
            .pubRec(Acknowledgement(packetID: 1, reasonCode: .packetIdentifierNotFound)),
            .invalidReasonCode(0x92), .reasonCode),
        UnwritablePacket(
            "a PUBREL with a code of PUBACK", .v5, .client,
            .pubRel(Acknowledgement(packetID: 1, reasonCode: .notAuthorized)),
            .invalidReasonCode(0x87), .reasonCode),
        UnwritablePacket(
            "a PUBCOMP with a code of PUBACK", .v5, .server,
            .pubComp(Acknowledgement(packetID: 1, reasonCode: .unspecifiedError)),
            .invalidReasonCode(0x80), .reasonCode),
        UnwritablePacket(
            "a reason in a DISCONNECT of 3.1.1", .v311, .client,
            .disconnect(Disconnect(reasonCode: .disconnectWithWillMessage)),
            .notInThisVersion, .reasonCode),
        UnwritablePacket(
            "a client that is shutting down", .v5, .client, .disconnect(Disconnect(reasonCode: .serverShuttingDown)),
            .invalidReasonCode(0x8B), .reasonCode),
        UnwritablePacket(
            "a server that asks for a will", .v5, .server,
            .disconnect(Disconnect(reasonCode: .disconnectWithWillMessage)),
            .invalidReasonCode(0x04), .reasonCode),
        UnwritablePacket(
            "a DISCONNECT with a code of CONNACK", .v5, .server, .disconnect(Disconnect(reasonCode: .banned)),
            .invalidReasonCode(0x8A), .reasonCode),
        UnwritablePacket(
            "an AUTH without a method", .v5, .client, .auth(Auth(reasonCode: .continueAuthentication, properties: [])),
            .missingAuthenticationMethod, .properties),
        UnwritablePacket(
            "an AUTH with data and without a method", .v5, .server,
            .auth(Auth(reasonCode: .success, properties: [.authenticationData(SecretBytes("d"))])),
            .missingAuthenticationMethod, .properties),
        UnwritablePacket(
            "a server that authenticates again", .v5, .server,
            .auth(Auth(reasonCode: .reauthenticate, properties: [.authenticationMethod("m")])),
            .invalidReasonCode(0x19), .reasonCode),
        UnwritablePacket(
            "a client that reports success", .v5, .client,
            .auth(Auth(reasonCode: .success, properties: [.authenticationMethod("m")])),
            .invalidReasonCode(0x00), .reasonCode),
        UnwritablePacket(
            "a client that reports success in an empty AUTH", .v5, .client,
            .auth(Auth(reasonCode: .success, properties: [])),
            .invalidReasonCode(0x00), .reasonCode),
    ]

    private static func publish(_ topic: String, _ properties: PacketProperties = []) -> Packet {
        .publish(Publish(topic: topic, payload: [], properties: properties))
    }

    private static func subscribe(_ filter: String, _ properties: PacketProperties = []) -> Packet {
        .subscribe(
            Subscribe(
                packetID: 1, subscriptions: [Subscription(filter, qos: .atLeastOnce)], properties: properties))
    }

    private static func unsubscribe(_ filter: String, _ properties: PacketProperties = []) -> Packet {
        .unsubscribe(Unsubscribe(packetID: 1, filters: [filter], properties: properties))
    }

    private static func connect(_ properties: PacketProperties) -> Packet {
        .connect(Connect(version: .v5, clientID: "c", properties: properties))
    }

    private static func will(_ topic: String, _ properties: PacketProperties = []) -> Packet {
        .connect(
            Connect(
                version: .v5, clientID: "c", will: Connect.Will(topic: topic, payload: [], properties: properties)))
    }
}
