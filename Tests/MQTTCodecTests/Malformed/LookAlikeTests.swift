import MQTTCodec
import TestSupport
import Testing

/// A packet that looks malformed but is valid.
struct LookAlike: CustomTestStringConvertible, Sendable {
    let name: String
    let version: ProtocolVersion
    let sender: Endpoint
    let hex: String
    let packet: Packet

    init(_ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ hex: String, _ packet: Packet) {
        self.name = name
        self.version = version
        self.sender = sender
        self.hex = hex
        self.packet = packet
    }

    var testDescription: String { "\(name) (\(version))" }
}

/// Valid packets that a too strict decoder would refuse.
@Suite
struct LookAlikeTests {
    @Test(arguments: text + sizes + versions + shortForms)
    func `a valid packet that looks malformed is accepted`(_ row: LookAlike) throws {
        let decoded = try decode(bytes(row.hex), row.version, from: row.sender)
        #expect(decoded == row.packet)
    }

    @Test func `byte order marks in a topic are decoded unchanged`() throws {
        // Swift compares text by canonical equivalence, so the scalars are compared here ([MQTT-1.5.4-3]).
        let packet = try decode(bytes("30 09 00 06 EF BB BF EF BB BF 00"), .v5, from: .client)
        guard case .publish(let publish) = packet else {
            Issue.record("\(String(describing: packet)) is no PUBLISH")
            return
        }
        #expect(Array(publish.topic.unicodeScalars) == ["\u{FEFF}", "\u{FEFF}"])
    }

    static let text: [LookAlike] = [
        LookAlike(
            "a byte order mark in front of a topic", .v5, .client, "30 07 00 04 EF BB BF 61 00",
            publish("\u{FEFF}a")),
        LookAlike(
            "control characters, which SHOULD NOT be sent (1.5.4)", .v5, .server, "30 07 00 04 01 1F 7F 09 00",
            publish("\u{1}\u{1F}\u{7F}\u{9}")),
        LookAlike("a C1 control character", .v5, .client, "30 05 00 02 C2 80 00", publish("\u{80}")),
        LookAlike("the non-character U+FFFF", .v5, .client, "30 06 00 03 EF BF BF 00", publish("\u{FFFF}")),
        LookAlike(
            "the last code point before and the first behind the surrogates", .v5, .client,
            "30 09 00 06 ED 9F BF EE 80 80 00", publish("\u{D7FF}\u{E000}")),
        LookAlike("the last code point", .v5, .client, "30 07 00 04 F4 8F BF BF 00", publish("\u{10FFFF}")),
        LookAlike(
            "the shortest forms of two, three and four bytes", .v311, .client,
            "30 0B 00 09 C2 80 E0 A0 80 F0 90 80 80", publish("\u{80}\u{800}\u{10000}")),
        LookAlike("a topic of one slash", .v311, .client, "30 03 00 01 2F", publish("/")),
        LookAlike("a topic with a space and $", .v5, .client, "30 06 00 03 24 20 62 00", publish("$ b")),
        LookAlike(
            "a publication to $share", .v5, .client, "30 0B 00 08 24 73 68 61 72 65 2F 67 00", publish("$share/g")),
        LookAlike(
            "an empty topic with an alias", .v5, .server, "30 06 00 00 03 23 FF FF",
            publish("", [.topicAlias(65_535)])),
        LookAlike(
            "filters of wildcards alone", .v5, .client, "82 0F 00 01 00 00 01 23 00 00 05 2B 2F 2B 2F 23 02",
            .subscribe(
                Subscribe(
                    packetID: 1,
                    subscriptions: [
                        Subscription("#", qos: .atMostOnce), Subscription("+/+/#", qos: .exactlyOnce),
                    ]))),
        LookAlike(
            "a shared filter whose rest starts with a slash", .v5, .client,
            "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 2F 61 01",
            subscribe(Subscription("$share/g//a", qos: .atLeastOnce))),
        LookAlike(
            "a shared filter with wildcards and no no-local", .v5, .client,
            "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 2F 23 01",
            subscribe(Subscription("$share/g//#", qos: .atLeastOnce))),
        LookAlike(
            "half a shared filter before MQTT 5", .v311, .client, "82 0D 00 01 00 08 24 73 68 61 72 65 2F 67 00",
            subscribe(Subscription("$share/g", qos: .atMostOnce))),
        LookAlike(
            "a filter that starts like a shared one", .v5, .client, "82 0D 00 01 00 00 07 24 73 68 61 72 65 64 00",
            subscribe(Subscription("$shared", qos: .atMostOnce))),
        LookAlike(
            "no-local and all other options on an ordinary filter", .v5, .client, "82 07 00 01 00 00 01 61 2E",
            subscribe(
                Subscription(
                    "a", qos: .exactlyOnce, isNoLocal: true, isRetainAsPublished: true, retainHandling: .doNotSend))),
        LookAlike(
            "an empty will, user name and password", .v5, .client,
            "10 17 00 04 4D 51 54 54 05 C4 00 00 00 00 00 00 00 01 77 00 00 00 00 00 00",
            .connect(
                Connect(
                    version: .v5, clientID: "", isCleanStart: false, keepAlive: 0, username: "",
                    password: SecretBytes([]), will: Connect.Will(topic: "w", payload: [])))),
        LookAlike(
            "a payload that is not the text that its format promises", .v5, .client, "30 07 00 01 61 02 01 01 FF",
            .publish(Publish(topic: "a", payload: [0xFF], properties: [.payloadFormatIndicator(isText: true)]))),
    ]

    static let sizes: [LookAlike] = [
        LookAlike(
            "a topic of 65,535 bytes", .v5, .client,
            "30 82 80 04 FF FF" + String(repeating: " 61", count: 65_535) + " 00",
            publish(String(repeating: "a", count: 65_535))),
        LookAlike(
            "a client identifier of 65,535 bytes", .v311, .client,
            "10 8B 80 04 00 04 4D 51 54 54 04 02 00 00 FF FF" + String(repeating: " 63", count: 65_535),
            .connect(Connect(version: .v311, clientID: String(repeating: "c", count: 65_535), keepAlive: 0))),
        LookAlike(
            "a client identifier of 24 characters, one more than servers must take", .v31, .client,
            "10 26 00 06 4D 51 49 73 64 70 03 02 00 00 00 18" + String(repeating: " 63", count: 24),
            .connect(Connect(version: .v31, clientID: String(repeating: "c", count: 24), keepAlive: 0))),
        LookAlike(
            "the largest subscription identifier", .v5, .server, "30 09 00 01 61 05 0B FF FF FF 7F",
            publish("a", [.subscriptionIdentifier(268_435_455)])),
        LookAlike(
            "several and equal subscription identifiers from the server", .v5, .server,
            "30 0A 00 01 61 06 0B 01 0B 02 0B 01",
            publish("a", [.subscriptionIdentifier(1), .subscriptionIdentifier(2), .subscriptionIdentifier(1)])),
        LookAlike(
            "user properties with the same name and an empty one", .v5, .client,
            "30 17 00 01 61 13 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76 26 00 00 00 00",
            publish(
                "a",
                [
                    .userProperty(name: "n", value: "v"), .userProperty(name: "n", value: "v"),
                    .userProperty(name: "", value: ""),
                ])),
        LookAlike(
            "the smallest and largest values of numbers", .v5, .client,
            "10 1D 00 04 4D 51 54 54 05 02 FF FF 10 11 FF FF FF FF 21 00 01 22 00 00 27 00 00 00 01 00 00",
            .connect(
                Connect(
                    version: .v5, clientID: "", keepAlive: 65_535,
                    properties: [
                        .sessionExpiryInterval(.max), .receiveMaximum(1), .topicAliasMaximum(0), .maximumPacketSize(1),
                    ]))),
        LookAlike(
            "the largest packet id", .v5, .client, "3C 06 00 01 61 FF FF 00",
            .publish(
                Publish(topic: "a", payload: [], delivery: .exactlyOnce(65_535, isDuplicate: true)))),
    ]

    /// Packets whose rules differ between the protocol versions.
    static let versions: [LookAlike] = [
        LookAlike("a remaining length of 3.1.1 in two bytes", .v311, .client, "C0 80 00", .pingReq),
        LookAlike("a remaining length of 3.1 in four bytes", .v31, .server, "D0 80 80 80 00", .pingResp),
        LookAlike(
            "a SUBSCRIBE of 3.1 with DUP and QoS 1", .v31, .client, "8A 06 00 01 00 01 61 00",
            subscribe(Subscription("a", qos: .atMostOnce))),
        LookAlike("a PUBREL of 3.1 with DUP", .v31, .client, "6A 02 00 01", .pubRel(Acknowledgement(packetID: 1))),
        LookAlike("a PINGREQ of 3.1 with RETAIN", .v31, .client, "C1 00", .pingReq),
        LookAlike("a QoS 0 PUBLISH of 3.1 with DUP", .v31, .client, "38 03 00 01 61", publish("a")),
        LookAlike("a QoS 0 PUBLISH of 3.1 with DUP from a server", .v31, .server, "38 03 00 01 61", publish("a")),
        LookAlike("a QoS 0 PUBLISH of 3.1.1 with DUP from a server", .v311, .server, "38 03 00 01 61", publish("a")),
        LookAlike("a QoS 0 PUBLISH of 5 with DUP from a server", .v5, .server, "38 04 00 01 61 00", publish("a")),
        LookAlike(
            "a retained QoS 0 PUBLISH of 5 with DUP from a server", .v5, .server, "39 04 00 01 61 00",
            .publish(Publish(topic: "a", payload: [], isRetained: true))),
        LookAlike("a CONNACK of 3.1 with a reserved byte", .v31, .server, "20 02 FF 00", .connAck(ConnAck())),
        LookAlike(
            "a CONNECT of 3.1 with the reserved flag", .v31, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 03 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 whose remaining length leaves the user name and password out", .v31, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 C2 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 whose remaining length leaves the password out", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 C2 00 3C 00 01 63 00 01 75",
            .connect(Connect(version: .v31, clientID: "c", username: "u"))),
        LookAlike(
            "a CONNECT of 3.1.1 to a server that reads 5", .v5, .client, "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 63",
            .connect(Connect(version: .v311, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 to a server that reads 5", .v5, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 02 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 5 to a server that reads 3.1.1", .v311, .client,
            "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63", .connect(Connect(version: .v5, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1.1 with a long remaining length, to a server that reads 5", .v5, .client,
            "10 8D 00 00 04 4D 51 54 54 04 02 00 3C 00 01 63", .connect(Connect(version: .v311, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1.1 without an identifier and with a clean session", .v311, .client,
            "10 0C 00 04 4D 51 54 54 04 02 00 3C 00 00", .connect(Connect(version: .v311, clientID: ""))),
        LookAlike(
            "a CONNECT of 5 without an identifier that keeps its session", .v5, .client,
            "10 0D 00 04 4D 51 54 54 05 00 00 3C 00 00 00",
            .connect(Connect(version: .v5, clientID: "", isCleanStart: false))),
        LookAlike(
            "a CONNECT of 5 with a password and no user name", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 42 00 3C 00 00 01 63 00 01 70",
            .connect(Connect(version: .v5, clientID: "c", password: SecretBytes("p")))),
        LookAlike(
            "a failure in a SUBACK of 3.1.1", .v311, .server, "90 04 00 01 80 02",
            .subAck(SubAck(packetID: 1, reasonCodes: [.unspecifiedError, .grantedQoS2]))),
        LookAlike(
            "each return code of 3.1.1", .v311, .server, "20 02 00 05", .connAck(ConnAck(reasonCode: .notAuthorized))),
        LookAlike("a DISCONNECT of 5 from the server", .v5, .server, "E0 00", .disconnect(Disconnect())),
    ]

    /// Packets of MQTT 5 without the parts that may be omitted at the end.
    static let shortForms: [LookAlike] = [
        LookAlike("a PUBACK of two bytes", .v5, .client, "40 02 00 01", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike("a PUBACK of three bytes", .v5, .client, "40 03 00 01 00", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike("a PUBACK of four bytes", .v5, .client, "40 04 00 01 00 00", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike(
            "a PUBREC with a code and no property length", .v5, .server, "50 03 00 01 10",
            .pubRec(Acknowledgement(packetID: 1, reasonCode: .noMatchingSubscribers))),
        LookAlike(
            "a PUBREL with properties", .v5, .server, "62 0B 00 01 92 07 26 00 01 6E 00 01 76",
            .pubRel(
                Acknowledgement(
                    packetID: 1, reasonCode: .packetIdentifierNotFound,
                    properties: [.userProperty(name: "n", value: "v")]))),
        LookAlike(
            "a PUBCOMP of three bytes", .v5, .client, "70 03 00 01 92",
            .pubComp(Acknowledgement(packetID: 1, reasonCode: .packetIdentifierNotFound))),
        LookAlike("a DISCONNECT without a body", .v5, .client, "E0 00", .disconnect(Disconnect())),
        LookAlike(
            "a DISCONNECT without a property length", .v5, .client, "E0 01 04",
            .disconnect(Disconnect(reasonCode: .disconnectWithWillMessage))),
        LookAlike(
            "a session expiry interval in a DISCONNECT of a client", .v5, .client, "E0 07 00 05 11 00 00 00 00",
            .disconnect(Disconnect(properties: [.sessionExpiryInterval(0)]))),
        LookAlike(
            "an AUTH of the server without a body, which means success (3.15.2.1)", .v5, .server, "F0 00",
            .auth(Auth(reasonCode: .success, properties: []))),
        LookAlike(
            "an AUTH with an empty method and empty data", .v5, .client, "F0 08 19 06 16 00 00 15 00 00",
            .auth(
                Auth(
                    reasonCode: .reauthenticate,
                    properties: [.authenticationData(SecretBytes([])), .authenticationMethod("")]))),
        LookAlike(
            "authentication data without a method in a refusal", .v5, .server, "20 07 00 8C 04 16 00 01 64",
            .connAck(
                ConnAck(reasonCode: .badAuthenticationMethod, properties: [.authenticationData(SecretBytes("d"))]))),
    ]

    private static func publish(_ topic: String, _ properties: PacketProperties = []) -> Packet {
        .publish(Publish(topic: topic, payload: [], properties: properties))
    }

    private static func subscribe(_ subscription: Subscription) -> Packet {
        .subscribe(Subscribe(packetID: 1, subscriptions: [subscription]))
    }
}
