import CourierTransport
import MQTTCodec

/// One connection to a broker with a fixed sequence: open the connection, CONNECT, round trips, DISCONNECT.
struct BrokerDialogue {
    /// The settings of one dialogue with the broker.
    struct Question: Sendable {
        /// The CONNECT packet. If it is `nil`, the dialogue only opens the connection.
        var connect: Connect?
        var roundTripCount = 0
        /// The topic of the messages whose round trips are measured. If it is `nil`, pings are sent instead.
        var topic: String?
        /// The time limit of each step.
        var timeLimit: Duration
    }

    /// The results of a dialogue.
    struct Answer: Sendable {
        /// The time to open the connection, including TLS; `nil` if it did not open.
        var openedAfter: Duration?
        var security: TLSSummary?
        var connAck: ConnAck?
        var roundTrips: [Duration] = []
        var failure: LinkFailure?

        /// True if the broker accepts only QoS 0. The round trips are then measured with pings. [MQTT-3.2.2-11]
        var takesQoS0Only: Bool { connAck?.properties.maximumQoS == .atMostOnce }
    }

    /// The maximum time to wait after DISCONNECT until the broker closes the connection too.
    private static let closeTimeLimit = Duration.seconds(1)

    private let question: Question
    private let link: BrokerLink
    private let events: LinkEvents
    private var answer = Answer()

    /// Runs the dialogue; blocks until it has ended.
    static func hold(
        _ question: Question, with endpoint: TransportEndpoint, tls: TLSContext? = nil, proxy: ProxySetting = .direct,
        on loop: EventLoop
    ) -> Answer {
        let events = LinkEvents(on: loop)
        let link = BrokerLink.begin(
            question.connect?.version ?? .v5, to: endpoint, tls: tls, proxy: proxy, timeLimit: question.timeLimit,
            events: events)
        var dialogue = BrokerDialogue(question: question, link: link, events: events)
        return dialogue.run()
    }

    private mutating func run() -> Answer {
        do throws(LinkFailure) {
            try converse()
        } catch {
            answer.failure = error
        }
        let mayStillSpeak = answer.failure.map(\.leavesConnected) ?? true
        guard mayStillSpeak, answer.connAck?.reasonCode == .success else {
            link.close()
            return answer
        }
        link.disconnect()
        try? link.waitUntilClosed(until: events.now + Self.closeTimeLimit)
        return answer
    }

    private mutating func converse() throws(LinkFailure) {
        try link.waitUntilOpen()
        answer.openedAfter = link.openedAfter
        answer.security = link.security
        guard let connect = question.connect else { return }
        guard case .connAck(let connAck) = try exchange(.connect(connect)).packet else { return }
        answer.connAck = connAck
        if connAck.reasonCode.isFailure { return }
        while answer.roundTrips.count < question.roundTripCount {
            let arrival = try exchange(measuringPacket)
            answer.roundTrips.append(link.sentAt.duration(to: arrival.time))
        }
    }

    /// The packet of the next round trip.
    private var measuringPacket: Packet {
        guard let topic = question.topic, !answer.takesQoS0Only,
            let id = PacketID(rawValue: UInt16(answer.roundTrips.count + 1))
        else { return .pingReq }
        return .publish(
            Publish(
                topic: topic, payload: Array("courier doctor".utf8),
                delivery: .atLeastOnce(id, isDuplicate: false)))
    }

    /// Sends a packet, and returns the broker's response.
    private func exchange(_ packet: Packet) throws(LinkFailure) -> BrokerLink.Arrival {
        let deadline = events.now + question.timeLimit
        try link.send(packet)
        while true {
            let arrival = try link.next(until: deadline)
            switch (packet, arrival.packet) {
            case (.connect, .connAck), (.pingReq, .pingResp): return arrival
            case (.publish, .pubAck(let acknowledgement)):
                if acknowledgement.reasonCode.isFailure { throw .messageRefused(acknowledgement.reasonCode) }
                return arrival
            case (_, .disconnect(let disconnect)): throw .disconnected(disconnect.reasonCode)
            case (.pingReq, .publish), (.publish, .publish): break  // A message that the broker sends to every client.
            default: throw .unreadable("the packet \(arrival.packet.type) is not allowed here")
            }
        }
    }
}
