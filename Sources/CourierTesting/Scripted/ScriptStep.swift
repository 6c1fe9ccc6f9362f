public import MQTTCodec

/// One step of a ``ScriptedBroker`` on one connection.
///
/// The steps are performed one after the other. After the last step, the broker behaves correctly, so a script contains
/// only the deviations.
public enum ScriptStep: Sendable {
    // MARK: Client packets

    /// Requires that the next packet matches; otherwise, the script fails. The matching packet is not answered. A
    /// PINGREQ that does not match is answered and skipped.
    case expect(PacketPattern)

    /// Behaves correctly until a matching packet is received. The matching packet is not answered.
    case serve(until: PacketPattern)

    // MARK: Broker packets

    /// Answers the packet that the last `expect` or `serve` step waited for, as a correct broker does.
    case answer

    /// Sends a packet, encoded for the MQTT version of the client's CONNECT, or for 3.1.1 before a CONNECT.
    case send(Packet)

    /// Sends bytes unchanged.
    case sendBytes([UInt8])

    /// Sends many messages, and answers the client's packets meanwhile.
    case flood(PublishFlood)

    /// Replays a recording. The script fails if the client sends a packet that does not occur in the rest of the
    /// recording.
    case replay(RecordedTraffic)

    // MARK: Faults of later packets

    /// Applies a fault to answers from now on.
    case fault(AnswerFault)

    /// Cuts the connection when this number of bytes was sent since the connection began, even in the middle of a
    /// packet. After an orderly cut, exactly this number of bytes reaches the client.
    case cutAfterSending(byteCount: Int, CutStyle)

    /// Cuts the connection when this number of bytes was received since the connection began. Packets that are complete
    /// before the cut are handled.
    case cutAfterReceiving(byteCount: Int, CutStyle)

    // MARK: Pauses

    /// Sends nothing for this time, by the clock of the broker's loop. Packets that are received during the pause are
    /// handled after the pause. Answers that a fault has delayed are still sent at their time.
    case pause(Duration)

    /// Sends nothing until the test releases the gate. Packets that are received meanwhile are handled after the
    /// release. Answers that a fault has delayed are still sent at their time.
    case hold(ScriptGate)

    /// Sends nothing from now on, not even answers that a fault has delayed, but continues to read.
    case stall

    /// Stops reading. When the buffers of the network are full, the client cannot write any more. The script continues.
    case stopReading

    /// Resumes reading.
    case resumeReading

    // MARK: End of the connection

    /// Cuts the connection after the packets of earlier steps were sent.
    case cut(CutStyle)

    /// Several steps that count as one step.
    indirect case group([ScriptStep])
}

/// How a connection is cut.
public enum CutStyle: Hashable, Sendable {
    /// The client reads everything that was sent, and then the end of the stream (TCP's FIN).
    case orderly

    /// The connection breaks: over TCP by a reset (RST, `SO_LINGER` 0), in memory by an error. Data in transit is lost:
    /// over TCP, data that the client's system has not received; in memory, data that the client has not read. A Unix
    /// socket has no reset. The client then sees a reset only if the broker has not read all data of the client.
    /// Otherwise, the client sees an orderly end.
    case reset
}

extension ScriptStep {
    /// Expects CONNECT and accepts it.
    ///
    /// - Parameters:
    ///   - isSessionPresent: The value of the flag "session present" in CONNACK. It may be wrong on purpose; `false` by
    ///     default.
    ///   - properties: The CONNACK's properties; none by default.
    /// - Returns: The step.
    public static func accept(isSessionPresent: Bool = false, properties: PacketProperties = []) -> ScriptStep {
        .group([
            .expect(.connect),
            .send(.connAck(ConnAck(isSessionPresent: isSessionPresent, properties: properties))),
        ])
    }

    /// Expects CONNECT, refuses it and closes the connection.
    ///
    /// - Parameters:
    ///   - reasonCode: The reason code. MQTT 3.1.1 has only `.unsupportedProtocolVersion`, `.clientIdentifierNotValid`,
    ///     `.serverUnavailable`, `.badUserNameOrPassword` and `.notAuthorized`.
    ///   - properties: The CONNACK's properties, such as a server reference; none by default.
    /// - Returns: The step.
    public static func refuse(_ reasonCode: PacketReasonCode, properties: PacketProperties = []) -> ScriptStep {
        .group([
            .expect(.connect), .send(.connAck(ConnAck(reasonCode: reasonCode, properties: properties))), .cut(.orderly),
        ])
    }

    /// Expects CONNECT, and closes the connection without CONNACK. Some brokers do so if they do not support the
    /// version.
    ///
    /// - Parameter style: How the connection is closed; orderly by default.
    /// - Returns: The step.
    public static func closeWithoutAnswer(_ style: CutStyle = .orderly) -> ScriptStep {
        .group([.expect(.connect), .cut(style)])
    }

    /// Sends DISCONNECT and closes the connection; MQTT 5 only.
    ///
    /// - Parameters:
    ///   - reasonCode: The reason code.
    ///   - serverReference: The server that the client should use instead; none by default.
    /// - Returns: The step.
    public static func disconnect(_ reasonCode: PacketReasonCode, serverReference: String? = nil) -> ScriptStep {
        let properties = PacketProperties(serverReference.map { [.serverReference($0)] } ?? [])
        return .group([
            .send(.disconnect(Disconnect(reasonCode: reasonCode, properties: properties))), .cut(.orderly),
        ])
    }
}

extension ScriptStep: CustomStringConvertible {
    /// The step in words, without payloads.
    public var description: String {
        switch self {
        case .expect(let pattern): "expect \(pattern)"
        case .serve(let pattern): "serve until \(pattern)"
        case .answer: "answer"
        case .send(let packet): "send \(packet.type)"
        case .sendBytes(let bytes): "send \(bytes.count) bytes"
        case .flood(let flood): "flood with \(flood.count) messages"
        case .replay(let traffic): "replay \(traffic.steps.count) packets"
        case .fault(let fault): fault.description
        case .cutAfterSending(let count, let style): "cut (\(style)) after sending \(count) bytes"
        case .cutAfterReceiving(let count, let style): "cut (\(style)) after receiving \(count) bytes"
        case .pause(let duration): "pause for \(duration)"
        case .hold: "hold"
        case .stall: "stall"
        case .stopReading: "stop reading"
        case .resumeReading: "resume reading"
        case .cut(let style): "cut (\(style))"
        case .group(let steps): steps.map(\.description).joined(separator: ", ")
        }
    }
}
