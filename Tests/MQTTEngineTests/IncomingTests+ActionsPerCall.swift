import MQTTCodec
import MQTTEngine
import Testing

extension IncomingTests {
    @Test
    func `one call of received() returns a limited number of actions, and the next call returns further actions`()
        throws
    {
        var engine = ClientEngine(EngineConfiguration(connect: Connect(version: .v311, clientID: "c")))
        var buffer = PacketBuffer()
        var actions = ActionList()
        let now = ContinuousClock.now
        engine.transportOpened(now: now, into: &buffer, &actions)
        var incoming = PacketBuffer()
        let encoder = PacketEncoder(version: .v311, sender: .server)
        try encoder.encode(.connAck(ConnAck()), into: &incoming)
        let count = 3 * ClientEngine.actionsPerCall
        for number in 0..<count { try encoder.encode(.message("\(number)"), into: &incoming) }
        let bytes = incoming.withBytes { $0.withUnsafeBytes { Array($0) } }
        var consumed = 0
        var topics: [String] = []
        while consumed < bytes.count {
            let rest = Array(bytes[consumed...])
            consumed += engine.received(rest.span.bytes, now: now, into: &buffer, &actions)
            #expect(actions.count <= ClientEngine.actionsPerCall)
            topics += actions.messages.map { String(decoding: rest[$0.view.topic], as: UTF8.self) }
            try #require(!actions.isEmpty)
            actions.removeAll()
        }
        #expect(topics == (0..<count).map(String.init))
    }
}
