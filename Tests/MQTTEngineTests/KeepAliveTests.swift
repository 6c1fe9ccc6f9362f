import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct KeepAliveTests {
    /// [MQTT-3.1.2-20]
    @Test func `PINGREQ is sent one keep-alive interval after the last sent packet`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.pass(.seconds(30))
        talk.publish(qos: .atMostOnce, token: 1)
        _ = try talk.sent()
        talk.pass(.seconds(20))
        try talk.receive(.message())  // Received packets do not count.
        #expect(talk.deadline == talk.now.advanced(by: .seconds(40)))
        talk.pass(.seconds(40))
        _ = talk.performed()
        talk.fireTimer()
        #expect(try talk.sent() == [.pingReq])
        talk.pass(.milliseconds(80))
        try talk.receive(.pingResp)
        #expect(talk.performed() == [.pingSent, .pongReceived(roundTrip: .milliseconds(80))])
        #expect(talk.deadline == talk.now.advanced(by: .milliseconds(59_920)))
    }

    /// [MQTT-3.1.2-21]
    @Test func `the server keep-alive from CONNACK replaces the configured keep-alive`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.serverKeepAlive(7)])
        talk.fireTimer()
        #expect(talk.deadline == talk.now.advanced(by: .seconds(7)))
    }

    @Test func `no PINGREQ is sent if the keep-alive is 0`() throws {
        let talk = Conversation { $0.connect.keepAlive = 0 }
        try talk.connect()
        #expect(talk.deadline == nil)
        talk.pass(.seconds(100_000))
        talk.fireTimer()
        #expect(try talk.sent() == [])
    }

    @Test func `the connection closes if PINGRESP is missing, even if other packets arrive`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.pass(.seconds(60))
        talk.fireTimer()
        _ = try talk.sent()
        talk.pass(.seconds(9))
        try talk.receive(.message())
        talk.fireTimer()
        #expect(talk.isConnected)
        talk.pass(.seconds(1))
        _ = talk.performed()
        talk.fireTimer()
        #expect(talk.performed() == [.close(.pingTimeout)])
    }

    @Test func `a PINGRESP without a PINGREQ is ignored`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.pingResp)
        #expect(talk.performed() == [])
        #expect(talk.isConnected)
    }
}
