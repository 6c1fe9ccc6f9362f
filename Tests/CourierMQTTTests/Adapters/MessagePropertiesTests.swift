import CourierCore
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct MessagePropertiesTests {
    private let full = MessageProperties(
        contentType: "text/plain", payloadFormat: .utf8, responseTopic: "answers/7", correlationData: Data([0, 0xFF]),
        messageExpiry: .seconds(90), userProperties: [.init("a", "1"), .init("b", "2"), .init("a", "3")])

    @Test func `message properties convert to packet properties and back in the same order`() {
        let packet = PacketProperties(publishing: full)
        #expect(
            packet == [
                .contentType("text/plain"), .payloadFormatIndicator(isText: true), .responseTopic("answers/7"),
                .correlationData([0, 0xFF]), .userProperty(name: "a", value: "1"), .userProperty(name: "b", value: "2"),
                .userProperty(name: "a", value: "3"),
            ])
        var received = packet
        received.append(.messageExpiryInterval(90))
        #expect(MessageProperties(received) == full)
        #expect(PacketProperties(publishing: MessageProperties()).isEmpty)
        #expect(MessageProperties(PacketProperties()) == MessageProperties())
    }

    @Test func `MessageProperties and equal PacketProperties are encoded to the same bytes`() throws {
        var some = full
        some.userProperties = []
        for properties in [full, some, MessageProperties(contentType: "a/b"), MessageProperties()] {
            var encoded = PacketBuffer()
            var list = PacketBuffer()
            try properties.encode(into: &encoded)
            try PacketEncoder(version: .v5, sender: .client).encodePublishProperties(
                PacketProperties(publishing: properties), into: &list)
            let bytes = encoded.withBytes { $0.withUnsafeBytes { Array($0) } }
            #expect(bytes == list.withBytes { $0.withUnsafeBytes { Array($0) } })
        }
    }

    @Test func `MessageProperties of a received packet do not contain the topic alias`() {
        let properties: PacketProperties = [
            .topicAlias(3), .payloadFormatIndicator(isText: false), .contentType("a/b"),
        ]
        #expect(MessageProperties(properties) == MessageProperties(contentType: "a/b"))
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let properties: MessageProperties
    }

    private static let tooLong = String(repeating: "x", count: 65_536)

    @Test(arguments: [
        Mistake(testDescription: "content type", properties: MessageProperties(contentType: "a\u{0}")),
        Mistake(testDescription: "content type", properties: MessageProperties(contentType: tooLong)),
        Mistake(testDescription: "content type", properties: MessageProperties(contentType: "a\n")),
        Mistake(testDescription: "response topic", properties: MessageProperties(responseTopic: "a\u{7F}")),
        Mistake(
            testDescription: "user property 1",
            properties: MessageProperties(userProperties: [.init("a", "\(Unicode.Scalar.of(0xFDD0))")])),
        Mistake(testDescription: "response topic", properties: MessageProperties(responseTopic: "a/#")),
        Mistake(testDescription: "response topic", properties: MessageProperties(responseTopic: "")),
        Mistake(
            testDescription: "correlation data", properties: MessageProperties(correlationData: Data(count: 65_536))),
        Mistake(testDescription: "expiry", properties: MessageProperties(messageExpiry: .seconds(-1))),
        Mistake(testDescription: "expiry", properties: MessageProperties(messageExpiry: .seconds(4_294_967_296))),
        Mistake(
            testDescription: "user property 2",
            properties: MessageProperties(userProperties: [.init("", ""), .init("\u{0}", "")])),
        Mistake(
            testDescription: "user property 1", properties: MessageProperties(userProperties: [.init("a", tooLong)])),
        Mistake(
            testDescription: "257 user properties",
            properties: MessageProperties(userProperties: Array(repeating: .init("a", "b"), count: 257))),
    ])
    func `a property that is invalid in MQTT throws an error with the property's name and the topic`(_ mistake: Mistake)
    {
        expectCourierError(.invalidMessage, mistake.testDescription, "\"a/b\"") {
            try mistake.properties.check(topic: "a/b", .portable)
        }
    }

    @Test func `properties exactly at the limits of MQTT are valid and can be encoded`() throws {
        let longest = String(repeating: "x", count: 65_535)
        let properties = MessageProperties(
            contentType: longest, responseTopic: "a", correlationData: Data(count: 65_535),
            messageExpiry: .seconds(4_294_967_295), userProperties: Array(repeating: .init("", longest), count: 256))
        try properties.check(topic: "a", .portable)
        var buffer = PacketBuffer()
        try PacketEncoder(version: .v5, sender: .client).encodePublish(
            topic: "a", payload: [UInt8]().span.bytes, properties: PacketProperties(publishing: properties),
            into: &buffer)
        let isEmpty = buffer.isEmpty
        #expect(!isEmpty)
    }

    @Test func `each QoS converts to the QoS of a packet and back`() {
        for qos in QoS.allCases { #expect(PacketQoS(qos).rawValue == qos.wireLevel) }
        for qos in PacketQoS.allCases { #expect(PacketQoS(QoS(qos)) == qos) }
    }
}
