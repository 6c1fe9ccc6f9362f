import MQTTCodec
import MQTTEngine
import Testing

/// Flags in the fixed header that a server must not set.
extension IncomingTests {
    @Test(arguments: [ProtocolVersion.v31, .v311, .v5])
    func `a DUP flag on a received QoS 0 message is ignored, and the connection stays open`(_ version: ProtocolVersion)
        throws
    {
        let talk = Conversation(version)
        try talk.connect()
        let properties: [UInt8] = version >= .v5 ? [0] : []
        talk.receive([0x38, UInt8(4 + properties.count), 0, 1, 0x61] + properties + [42])
        #expect(talk.isConnected)
        let messages = talk.performed().compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages.map(\.view.delivery) == [.atMostOnce])
        #expect(messages.map(\.view.delivery.isDuplicate) == [false])
        #expect(try talk.sent() == [])
    }
}
