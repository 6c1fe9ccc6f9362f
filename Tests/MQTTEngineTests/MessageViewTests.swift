import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct MessageViewTests {
    private static let properties: PacketProperties = [
        .contentType("text/plain"), .userProperty(name: "trace", value: "7f3a"),
    ]

    /// Stores a message in `memory`, as the outgoing queue of a client does.
    private static func keep(
        _ header: OutgoingHeader, topic: String, payload: [UInt8] = [1], properties: PacketProperties = [],
        in memory: inout MessageMemory
    ) throws -> MessageMemory.Place {
        var buffer = PacketBuffer()
        try MessageMemory.encode(properties, hasExpiry: header.expiry != nil, into: &buffer)
        return buffer.withBytes {
            memory.keep(
                header, topic: topic.utf8Span.span.bytes, encodedProperties: $0, payload: payload.span.bytes)
        }
    }

    @Test func `messages in memory are published in order and with all their fields`() throws {
        let talk = Conversation()
        try talk.connect()
        var memory = MessageMemory()
        var places: [MessageMemory.Place] = []
        for number in 0..<300 {
            places.append(
                try Self.keep(
                    OutgoingHeader(
                        qos: PacketQoS(rawValue: UInt8(number % 3)) ?? .atMostOnce, isRetained: number % 2 == 0,
                        token: Token(rawValue: UInt64(number))), topic: "t/\(number)",
                    payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number),
                    properties: number % 5 == 0 ? Self.properties : [], in: &memory))
        }
        talk.publish(places, in: memory)
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(sent.count == 300)
        for (number, publish) in sent.enumerated() {
            #expect(publish.topic == "t/\(number)")
            #expect(publish.payload == [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number))
            #expect(publish.delivery.qos.rawValue == UInt8(number % 3))
            #expect(publish.isRetained == (number % 2 == 0))
            #expect(publish.properties == (number % 5 == 0 ? Self.properties : []))
        }
    }

    @Test func `the engine can resend a message that the caller discarded from MessageMemory`() throws {
        let talk = Conversation()
        try talk.connect()
        var memory = MessageMemory()
        let place = try Self.keep(OutgoingHeader(qos: .atLeastOnce, token: 1), topic: "t", in: &memory)
        talk.publish([place], in: memory)
        memory.discard(place)
        _ = try Self.keep(OutgoingHeader(qos: .atLeastOnce, token: 2), topic: "other", in: &memory)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [OutgoingTests.publish(1, .atLeastOnce, isDuplicate: true)])
    }

    @Test func `if a batch exceeds the publish capacity, excess messages fail and QoS 0 messages are sent`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(1)])
        var memory = MessageMemory()
        var places: [MessageMemory.Place] = []
        for (number, qos) in [PacketQoS.exactlyOnce, .atLeastOnce, .atMostOnce].enumerated() {
            let header = OutgoingHeader(qos: qos, token: Token(rawValue: UInt64(number + 1)))
            places.append(try Self.keep(header, topic: "t", in: &memory))
        }
        talk.publish(places, in: memory)
        #expect(talk.performed() == [.sent(1, 1), .failed(2, .quotaExceeded)])
        #expect(try talk.sent() == [OutgoingTests.publish(1, .exactlyOnce), .message()])
    }

    @Test(arguments: PacketQoS.allCases)
    func `a message with properties that cannot be encoded fails and uses no memory or packet id`(_ qos: PacketQoS)
        throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(OutgoingMessage(topic: "bad", payload: [2], qos: qos, properties: [.topicAlias(1)], token: 2))
        let performed = talk.performed()
        guard case .failed(2, .notEncodable(let error))? = performed.first else {
            Issue.record("\(performed)")
            return
        }
        #expect(error.violation == .duplicateProperty(.topicAlias))
        #expect(performed.count == 1)
        #expect(talk.keptByteCount == 0 && talk.inFlightCount == 0)
    }

    @Test func `encoding invalid properties throws and leaves the buffer unchanged`() throws {
        var buffer = PacketBuffer()
        try MessageMemory.encode(Self.properties, hasExpiry: true, into: &buffer)
        let count = buffer.count
        #expect(count > 0)
        do throws(EncodeError) {
            try MessageMemory.encode([.messageExpiryInterval(5)], hasExpiry: true, into: &buffer)
            Issue.record("encoded")
        } catch {
            #expect(error.violation == .duplicateProperty(.messageExpiryInterval))
        }
        #expect(buffer.count == count)
    }

    @Test func `a resent message carries its properties and its remaining expiry time`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(
            OutgoingMessage(
                topic: "t", payload: [1], qos: .exactlyOnce, properties: Self.properties,
                expiry: talk.now.advanced(by: .seconds(60)), token: 1))
        var properties = Self.properties
        properties.append(.messageExpiryInterval(60))
        #expect(try talk.sent() == [.message("t", .exactlyOnce(1, isDuplicate: false), properties: properties)])
        talk.pass(.seconds(20))
        try talk.reconnect(isSessionPresent: true)
        properties = Self.properties
        properties.append(.messageExpiryInterval(40))
        #expect(try talk.sent() == [.message("t", .exactlyOnce(1, isDuplicate: true), properties: properties)])
    }
}
