import MQTTCodec
import MQTTEngine

/// Plays one connection with a QoS 2 message in each direction, and compares the packets and actions of each step.
struct EngineConversation: ~Copyable {
    private var engine: ClientEngine
    private var buffer = PacketBuffer()
    private var actions = ActionList()
    private var now = Self.start
    private let connect = Connect(version: .v5, clientID: "sensor", keepAlive: 60)

    #if hasFeature(Embedded)
        private static let start = ClientEngine.Instant.seconds(5)
    #else
        private static let start = ContinuousClock.now
    #endif

    private init() {
        var configuration = EngineConfiguration(connect: connect)
        configuration.receiveMaximum = 20
        engine = ClientEngine(configuration)
    }

    static func play(into report: inout Report) {
        var conversation = EngineConversation()
        conversation.open(&report)
        conversation.send(&report)
        conversation.receive(&report)
        conversation.ping(&report)
        conversation.close(&report)
    }

    private mutating func open(_ report: inout Report) {
        var connect = connect
        connect.properties = [.receiveMaximum(20), .maximumPacketSize(16 * 1024 * 1024), .topicAliasMaximum(16)]
        engine.transportOpened(now: now, into: &buffer, &actions)
        step("the engine writes CONNECT", sent: [.connect(connect)], [], &report)

        // The largest packet size does not fit if `Int` has 32 bits.
        let connAck = ConnAck(properties: [
            .sessionExpiryInterval(.max), .receiveMaximum(10), .maximumPacketSize(.max), .topicAliasMaximum(2),
        ])
        receive(.connAck(connAck), &report)
        step("CONNACK opens the connection", sent: [], [.connected(connAck)], &report)
        report.check(engine.isConnected && engine.publishCapacity == 10, "the engine is not connected")
    }

    private mutating func send(_ report: inout Report) {
        let message = OutgoingMessage(
            topic: "room/temperature", payload: [0x32, 0x31], qos: .exactlyOnce,
            properties: [.userProperty(name: "unit", value: "°C")], expiry: now + .seconds(90), token: 7)
        engine.publish(message, now: now, into: &buffer, &actions)
        let properties: PacketProperties = [
            .userProperty(name: "unit", value: "°C"), .messageExpiryInterval(90), .topicAlias(1),
        ]
        let publish = Publish(
            topic: "room/temperature", payload: [0x32, 0x31], delivery: .exactlyOnce(1, isDuplicate: false),
            properties: properties)
        step("publish() writes PUBLISH", sent: [.publish(publish)], [.sent(7, 1)], &report)

        let acknowledgement = Acknowledgement(packetID: 1)
        receive(.pubRec(acknowledgement), &report)
        step("PUBREC is answered by PUBREL", sent: [.pubRel(acknowledgement)], [.receivedByServer(7)], &report)
        receive(.pubComp(acknowledgement), &report)
        step("PUBCOMP ends the exchange", sent: [], [.acknowledged(7, .success, [])], &report)
        report.check(engine.inFlightCount == 0, "the exchange did not end")
    }

    private mutating func receive(_ report: inout Report) {
        var publish = Publish(
            topic: "room/target", payload: [0x32, 0x32], delivery: .exactlyOnce(9, isDuplicate: false))
        let acknowledgement = Acknowledgement(packetID: 9)
        let received = receive(.publish(publish), &report)
        if case .message(let message)? = actions.first {
            report.check(Array(received[message.view.topic]) == Array("room/target".utf8), "the topic differs")
            report.check(Array(received[message.view.payload]) == [0x32, 0x32], "the payload differs")
        } else {
            report.fail("PUBLISH is not reported as a message")
        }
        step("PUBLISH is delivered and answered by PUBREC", sent: [.pubRec(acknowledgement)], nil, &report)

        publish.delivery = .exactlyOnce(9, isDuplicate: true)
        receive(.publish(publish), &report)
        step("the repeated PUBLISH is not delivered", sent: [.pubRec(acknowledgement)], [], &report)
        receive(.pubRel(acknowledgement), &report)
        step("PUBREL is answered by PUBCOMP", sent: [.pubComp(acknowledgement)], [.incomingReleased(9)], &report)
        report.check(engine.unacknowledgedCount == 0, "the exchange did not end")
    }

    private mutating func ping(_ report: inout Report) {
        report.check(engine.deadline == now + .seconds(60), "the deadline differs from the keep-alive interval")
        now = now + .seconds(60)
        engine.timerFired(now: now, into: &buffer, &actions)
        step("silence leads to PINGREQ", sent: [.pingReq], [.pingSent], &report)
        now = now + .milliseconds(250)
        receive(.pingResp, &report)
        step("PINGRESP arrives", sent: [], [.pongReceived(roundTrip: .milliseconds(250))], &report)
    }

    private mutating func close(_ report: inout Report) {
        engine.disconnect(now: now, into: &buffer, &actions)
        step("disconnect() writes DISCONNECT", sent: [.disconnect(Disconnect())], [.close(.requested)], &report)
        engine.transportClosed(now: now, &actions)
        step("the transport is closed", sent: [], [], &report)
        report.check(!engine.isConnected && engine.deadline == nil, "the engine is still connected")
    }

    /// Passes a packet of the server to the engine, and returns the bytes of the packet.
    @discardableResult
    private mutating func receive(_ packet: Packet, _ report: inout Report) -> [UInt8] {
        var incoming = PacketBuffer()
        let encoder = PacketEncoder(version: .v5, sender: .server)
        do throws(EncodeError) { try encoder.encode(packet, into: &incoming) } catch { report.fail("\(error)") }
        let bytes = incoming.take()
        let consumed = engine.received(bytes.span.bytes, now: now, into: &buffer, &actions)
        report.check(consumed == bytes.count, "the engine does not read all bytes of \(packet.type)")
        return bytes
    }

    /// Compares the packets and actions since the last step. `nil` stands for actions that were compared before.
    private mutating func step(_ name: String, sent: [Packet], _ expected: [EngineAction]?, _ report: inout Report) {
        report.stepCount += 1
        let bytes = buffer.take()
        report.line("step \(report.stepCount), \(name): \(actions.count) actions, \(hex(bytes))")
        let packets = (try? decodeAll(bytes, PacketDecoder(version: .v5, sender: .client)))?.packets
        report.check(packets == sent, "\(name): the engine wrote other packets")
        if let expected { report.check(Array(actions) == expected, "\(name): the engine reported other actions") }
        actions.removeAll()
    }
}
