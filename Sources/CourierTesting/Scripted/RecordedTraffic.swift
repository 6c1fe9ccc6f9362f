public import CourierCore
import MQTTCodec

/// A recorded connection, which a ``ScriptedBroker`` replays to a client.
///
/// A recording consists of the direction, the delay and the bytes of each packet. So a recording can be made from any
/// log of packets, such as a log of the packet inspector:
///
/// ```swift
/// let logger = MQTTChuckLogger()
/// try logger.importJSONLines(Data(contentsOf: recording))
/// let script = logger.recordedSessions().map { session in
///     ConnectionScript.replaying(RecordedTraffic(session.steps.map { ($0.direction, $0.delay, $0.bytes) }))
/// }
/// let broker = try ScriptedBroker.start(script)
/// ```
///
/// The broker's packets are sent again byte for byte. Each packet is sent after the same packets of the client and with
/// the same delay, by the clock of the loop. The client must send the same packets as the recorded client. Packets
/// count as the same if their types are equal. For PUBLISH, topic and QoS must be equal too. For SUBSCRIBE and
/// UNSUBSCRIBE, the filters must be equal too. Between two packets of the broker, the order of the client's packets
/// does not matter. If the client uses other packet ids, the broker's acknowledgements contain these ids. Each ping is
/// answered. However, if the recorded broker did not answer the last ping, that ping and later pings are not answered.
///
/// A recording contains no secrets. A client that authenticates by AUTH receives `*` instead of the broker's data.
public struct RecordedTraffic: Sendable {
    /// One packet of either side.
    enum Step: Sendable {
        case client(RecordedRequest)
        case broker(after: Duration, bytes: [UInt8])
    }

    let steps: [Step]

    /// Whether the recording begins with CONNECT. If it does not, the broker accepts the client as usual.
    let hasBeginning: Bool

    /// True if the recorded broker did not answer the last ping.
    let endsInSilence: Bool

    /// Makes the traffic of a recording.
    ///
    /// - Parameter packets: The packets of one connection, oldest first, each with its direction, its delay after the
    ///   packet before it, and its bytes.
    public init(_ packets: [(direction: PacketBatch.Direction, delay: Duration, bytes: [UInt8])]) {
        let lastPing = packets.lastIndex { Self.type($0.bytes) == .pingReq }
        let lastAnswer = packets.lastIndex { Self.type($0.bytes) == .pingResp }
        let unanswered = lastPing.flatMap { $0 > lastAnswer ?? -1 ? $0 : nil }
        var steps: [Step] = []
        var version = ProtocolVersion.v311
        var waited = Duration.zero
        for (index, packet) in packets.enumerated() {
            waited += packet.delay
            let type = Self.type(packet.bytes)
            if type == .pingResp || type == .pingReq && index != unanswered { continue }
            switch packet.direction {
            case .outgoing:
                guard let request = RecordedRequest(packet.bytes, &version) else { continue }
                steps.append(.client(request))
            case .incoming: steps.append(.broker(after: waited, bytes: packet.bytes))
            }
            waited = .zero
        }
        self.steps = steps
        hasBeginning = packets.first.map { Self.type($0.bytes) == .connect } ?? false
        endsInSilence = unanswered != nil
    }

    private static func type(_ bytes: [UInt8]) -> PacketType? { bytes.first.flatMap { PacketType(rawValue: $0 >> 4) } }
}

extension ConnectionScript {
    /// Makes a script that replays a recording.
    ///
    /// - Parameters:
    ///   - traffic: The recording.
    ///   - end: The steps after the last recorded packet, such as `.cut(.reset)`, because a recording does not contain
    ///     how the connection ended. By default, the broker closes after a DISCONNECT. If the recorded broker did not
    ///     answer the last ping, the broker stays silent. Otherwise it behaves correctly.
    /// - Returns: The script.
    public static func replaying(_ traffic: RecordedTraffic, end: [ScriptStep] = []) -> ConnectionScript {
        var steps: [ScriptStep] = traffic.hasBeginning ? [] : [.accept()]
        steps.append(.replay(traffic))
        steps += end
        if end.isEmpty, traffic.endsInSilence { steps.append(.stall) }
        if end.isEmpty, traffic.endsWithDisconnect { steps.append(.cut(.orderly)) }
        return .connection(steps)
    }
}

extension RecordedTraffic {
    fileprivate var endsWithDisconnect: Bool {
        switch steps.last {
        case .client(let request): request.type == .disconnect
        case .broker(_, let bytes): Self.type(bytes) == .disconnect
        case nil: false
        }
    }
}
