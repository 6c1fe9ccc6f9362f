public import CourierCore
import MQTTCodec

/// What a connection said in the field, to be said again to a client by a ``ScriptedBroker``.
///
/// It is read from the three things that matter of each packet, so that a recording of any kind will do, such as one of
/// the packet inspector:
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
/// What the broker said is said again byte for byte: after the packets of the client that it followed, as much later as
/// it was then, by the clock of the loop. Those packets must come again, in any order between two of the broker's: the
/// same types, of PUBLISH the same topic and QoS, of SUBSCRIBE and UNSUBSCRIBE the same filters. Where a client has other
/// packet ids than then, the answers to it have them too. Pings are answered as they come, unless the broker left the last
/// one unanswered; then so is the next one, and all that follows.
///
/// Secrets are not in a recording: a client that authenticates by AUTH gets `*` for the broker's data.
public struct RecordedTraffic: Sendable {
    /// One packet of either side.
    enum Step: Sendable {
        case client(RecordedRequest)
        case broker(after: Duration, bytes: [UInt8])
    }

    let steps: [Step]

    /// Whether the recording begins with CONNECT. The client of another one is accepted as by a well-behaved broker.
    let hasBeginning: Bool

    /// Whether the broker had stopped answering pings at the end.
    let endsInSilence: Bool

    /// Reads a recording.
    ///
    /// - Parameter packets: The packets of one connection in order: which way each went, how long after the one before it
    ///   whichever way that went, and its bytes.
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
    /// A connection that goes as one did in the field.
    ///
    /// - Parameters:
    ///   - traffic: The recording.
    ///   - end: What comes behind its last packet, such as `.cut(.reset)`, because a recording does not say how the
    ///     connection ended. By default the broker closes behind a DISCONNECT, is silent where it was silent to a ping,
    ///     and otherwise continues as a well-behaved one.
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
