import TestSupport
import Testing

@testable import MQTTCodec

/// Examples from the specifications, and small packets that were written by hand from the tables there.
@Suite
struct GoldenBytesTests {
    struct Example: CustomTestStringConvertible {
        let testDescription: String
        let version: ProtocolVersion
        let sender: Endpoint
        let hex: String
        let packet: Packet

        init(_ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ hex: String, _ packet: Packet) {
            testDescription = "\(name), \(version)"
            self.version = version
            self.sender = sender
            self.hex = hex
            self.packet = packet
        }
    }

    static let examples: [Example] = [
        // Figure 3.6 of 3.1.1: keep-alive 10, all flags except will retain, will QoS 1.
        Example(
            "CONNECT with will, user name and password", .v311, .client,
            "10 1d 00 04 4d 51 54 54 04 ce 00 0a 00 01 63 00 01 77 00 02 62 79 00 02 6d 65 00 03 6b 65 79",
            .connect(
                Connect(
                    version: .v311, clientID: "c", keepAlive: 10, username: "me", password: SecretBytes("key"),
                    will: .init(topic: "w", payload: Array("by".utf8), qos: .atLeastOnce)))),
        // Figure 3-6 of 5.0, which has a session expiry interval of 10 seconds.
        Example(
            "CONNECT with a session expiry", .v5, .client,
            "10 13 00 04 4d 51 54 54 05 02 00 0a 05 11 00 00 00 0a 00 01 63",
            .connect(
                Connect(version: .v5, clientID: "c", keepAlive: 10, properties: [.sessionExpiryInterval(10)]))),
        Example(
            "CONNECT", .v31, .client, "10 10 00 06 4d 51 49 73 64 70 03 02 00 3c 00 02 69 64",
            .connect(Connect(version: .v31, clientID: "id"))),
        Example("CONNACK", .v311, .server, "20 02 01 00", .connAck(ConnAck(isSessionPresent: true))),
        Example(
            "CONNACK, not authorized", .v311, .server, "20 02 00 05",
            .connAck(ConnAck(reasonCode: .notAuthorized))),
        Example(
            "CONNACK with properties", .v5, .server, "20 09 00 00 06 22 00 0a 21 00 14",
            .connAck(ConnAck(properties: [.topicAliasMaximum(10), .receiveMaximum(20)]))),
        // Figure 3.11 of 3.1.1: topic a/b, packet id 10.
        Example(
            "PUBLISH, topic a/b, packet id 10", .v311, .client, "32 07 00 03 61 2f 62 00 0a",
            .publish(Publish(topic: "a/b", payload: [], delivery: .atLeastOnce(10, isDuplicate: false)))),
        // Figure 3-9 of 5.0: the same packet with an empty list of properties.
        Example(
            "PUBLISH, topic a/b, packet id 10", .v5, .client, "32 08 00 03 61 2f 62 00 0a 00",
            .publish(Publish(topic: "a/b", payload: [], delivery: .atLeastOnce(10, isDuplicate: false)))),
        Example(
            "PUBLISH with all flags", .v311, .client, "3d 06 00 01 74 ff ff 21",
            .publish(
                Publish(
                    topic: "t", payload: [0x21], delivery: .exactlyOnce(65_535, isDuplicate: true), isRetained: true))),
        Example(
            "PUBLISH by alias", .v5, .server, "30 07 00 00 03 23 00 05 21",
            .publish(Publish(topic: "", payload: [0x21], properties: [.topicAlias(5)]))),
        Example("PUBACK", .v311, .server, "40 02 00 0a", .pubAck(Acknowledgement(packetID: 10))),
        Example("PUBACK of success", .v5, .server, "40 02 00 0a", .pubAck(Acknowledgement(packetID: 10))),
        Example(
            "PUBACK with a reason code", .v5, .server, "40 03 00 0a 10",
            .pubAck(Acknowledgement(packetID: 10, reasonCode: .noMatchingSubscribers))),
        Example(
            "PUBREC with a reason string", .v5, .server, "50 09 00 0a 97 05 1f 00 02 6e 6f",
            .pubRec(Acknowledgement(packetID: 10, reasonCode: .quotaExceeded, properties: [.reasonString("no")]))),
        Example("PUBREL", .v311, .client, "62 02 00 0a", .pubRel(Acknowledgement(packetID: 10))),
        Example(
            "PUBCOMP, id not found", .v5, .client, "70 03 00 0a 92",
            .pubComp(Acknowledgement(packetID: 10, reasonCode: .packetIdentifierNotFound))),
        // Figure 3.23 of 3.1.1: a/b at QoS 1 and c/d at QoS 2, packet id 10.
        Example(
            "SUBSCRIBE to a/b and c/d", .v311, .client, "82 0e 00 0a 00 03 61 2f 62 01 00 03 63 2f 64 02",
            .subscribe(
                Subscribe(
                    packetID: 10,
                    subscriptions: [Subscription("a/b", qos: .atLeastOnce), Subscription("c/d", qos: .exactlyOnce)]))),
        // Figure 3-22 of 5.0, with the options from the text of the specification.
        Example(
            "SUBSCRIBE with options", .v5, .client, "82 09 00 0a 00 00 03 61 2f 62 2d",
            .subscribe(
                Subscribe(
                    packetID: 10,
                    subscriptions: [
                        Subscription(
                            "a/b", qos: .atLeastOnce, isNoLocal: true, isRetainAsPublished: true,
                            retainHandling: .doNotSend)
                    ]))),
        // Figure 3.26 of 3.1.1: QoS 0, QoS 2 and a failure.
        Example(
            "SUBACK with a failure", .v311, .server, "90 05 00 0a 00 02 80",
            .subAck(SubAck(packetID: 10, reasonCodes: [.success, .grantedQoS2, .unspecifiedError]))),
        // Figure 3.30 of 3.1.1.
        Example(
            "UNSUBSCRIBE from a/b and c/d", .v311, .client, "a2 0c 00 0a 00 03 61 2f 62 00 03 63 2f 64",
            .unsubscribe(Unsubscribe(packetID: 10, filters: ["a/b", "c/d"]))),
        Example("UNSUBACK", .v311, .server, "b0 02 00 0a", .unsubAck(UnsubAck(packetID: 10))),
        Example(
            "UNSUBACK with codes", .v5, .server, "b0 05 00 0a 00 00 11",
            .unsubAck(UnsubAck(packetID: 10, reasonCodes: [.success, .noSubscriptionExisted]))),
        Example("PINGREQ", .v311, .client, "c0 00", .pingReq),
        Example("PINGRESP", .v5, .server, "d0 00", .pingResp),
        Example("DISCONNECT", .v311, .client, "e0 00", .disconnect(Disconnect())),
        Example(
            "DISCONNECT with the will", .v5, .client, "e0 01 04",
            .disconnect(Disconnect(reasonCode: .disconnectWithWillMessage))),
        Example(
            "DISCONNECT, taken over, with a reference", .v5, .server, "e0 07 8e 05 1c 00 02 62 32",
            .disconnect(Disconnect(reasonCode: .sessionTakenOver, properties: [.serverReference("b2")]))),
        Example(
            "AUTH", .v5, .client, "f0 0b 18 09 15 00 01 6d 16 00 02 ca fe",
            .auth(
                Auth(
                    reasonCode: .continueAuthentication,
                    properties: [.authenticationMethod("m"), .authenticationData(SecretBytes([0xCA, 0xFE]))]))),
    ]

    @Test(arguments: examples)
    func `each example packet is encoded to the expected bytes`(example: Example) throws {
        #expect(try hex(encode(example.packet, example.version, from: example.sender)) == hex(bytes(example.hex)))
    }

    @Test(arguments: examples)
    func `the bytes of each example are decoded to the expected packet`(example: Example) throws {
        #expect(try decode(bytes(example.hex), example.version, from: example.sender) == example.packet)
    }

    /// The limits from Table 2.4 of 3.1.1 and Table 1-1 of 5.0, above which one more byte is needed.
    @Test(arguments: [
        (0, "00"), (127, "7f"), (128, "8001"), (16_383, "ff7f"), (16_384, "808001"), (2_097_151, "ffff7f"),
        (2_097_152, "80808001"), (268_435_455, "ffffff7f"),
    ])
    func `the remaining length is encoded as in the table of the specification`(value: Int, expected: String) {
        var buffer = PacketBuffer()
        buffer.append(variableByteInteger: value)
        #expect(buffer.withBytes { $0.withUnsafeBytes { hex($0) } } == expected)
    }

    /// A length of two bytes allows at most 65,535 bytes ([MQTT-1.5.4]).
    @Test func `a string of 65535 bytes is encoded, and a string of 65536 bytes throws`() throws {
        let longest = String(repeating: "x", count: 65_535)
        let packet = Packet.publish(Publish(topic: longest, payload: []))
        #expect(try decode(encode(packet, .v311, from: .client), .v311, from: .client) == packet)
        #expect(throws: EncodeError(.fieldTooLong(65_536), in: .publish, .topicName)) {
            try encode(.publish(Publish(topic: longest + "x", payload: [])), .v311, from: .client)
        }
    }
}
