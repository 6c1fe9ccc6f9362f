import MQTTCodec
import MQTTEngine
import Testing

/// Messages whose time runs out while they wait for the next connection.
@Suite
struct ExpiryTests {
    @Test func `what waits behind a full window expires without a connection, and nothing else does`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish("sent", qos: .atLeastOnce, token: 1, expiry: .seconds(1))
        talk.publish("short", qos: .atLeastOnce, token: 2, expiry: .seconds(5))
        talk.publish("long", qos: .exactlyOnce, token: 3, expiry: .seconds(60))
        talk.publish("for ever", qos: .atLeastOnce, token: 4)
        talk.close()
        _ = try talk.sent()
        _ = talk.performed()
        let start = talk.now
        #expect(talk.deadline == start.advanced(by: .seconds(5)))
        talk.pass(.seconds(4))
        talk.fireTimer()
        #expect(talk.performed() == [])
        talk.pass(.seconds(1))
        talk.fireTimer()
        #expect(talk.performed() == [.failed(2, .expired)])
        #expect(talk.deadline == start.advanced(by: .seconds(60)))
        try talk.reconnect(isSessionPresent: true)
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(sent.map(\.topic) == ["sent", "long", "for ever"])
    }

    @Test func `before the first connection too`() {
        let talk = Conversation()
        talk.publish(qos: .exactlyOnce, token: 1, expiry: .seconds(5))
        #expect(talk.deadline == talk.now.advanced(by: .seconds(5)))
        talk.pass(.seconds(5))
        talk.fireTimer()
        #expect(talk.performed() == [.failed(1, .expired)])
        #expect(talk.deadline == nil)
        #expect(talk.queuedCount == 0)
    }

    @Test func `the time of what was sent meanwhile ends nothing`() throws {
        let talk = Conversation()
        talk.publish(qos: .atLeastOnce, token: 1, expiry: .seconds(5))
        try talk.connect()
        talk.pass(.seconds(10))
        talk.close()
        _ = talk.performed()
        talk.fireTimer()
        #expect(talk.performed() == [])
        #expect(talk.deadline == nil)
        #expect(talk.inFlightCount == 1)
    }
}
