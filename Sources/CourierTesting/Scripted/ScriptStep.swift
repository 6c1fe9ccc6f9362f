public import MQTTCodec

/// One step of what a ``ScriptedBroker`` does on one connection.
///
/// Steps follow each other; where a script ends, the broker continues as a well-behaved one. So a script names only what is
/// special.
public enum ScriptStep: Sendable {
    // MARK: What the client is to do

    /// The next packet must be this, or the script has failed; it is not answered. A PINGREQ before it is answered and
    /// passed over, unless it is what is expected.
    case expect(PacketPattern)

    /// Answers as a well-behaved broker until this comes, which is not answered.
    case serve(until: PacketPattern)

    // MARK: What the broker says

    /// Answers the packet that was last expected, as a well-behaved broker would.
    case answer

    /// Sends a packet; its version is that of the CONNECT, and 3.1.1 before.
    case send(Packet)

    /// Sends bytes as they are.
    case sendBytes([UInt8])

    /// Sends many messages, while what the client sends is answered.
    case flood(PublishFlood)

    /// Says what a broker said in the field, when and after what it did. A packet that nothing of the recording's rest
    /// is like fails the script.
    case replay(RecordedTraffic)

    // MARK: What goes wrong later

    /// From now on something goes wrong with answers of this type.
    case fault(AnswerFault)

    /// Cuts the connection as soon as so many bytes have been sent, counted from its beginning, also in the middle of a
    /// packet. After an orderly cut exactly so many reach the client.
    case cutAfterSending(byteCount: Int, CutStyle)

    /// Cuts the connection as soon as so many bytes have come, counted from its beginning; what came before is dealt
    /// with.
    case cutAfterReceiving(byteCount: Int, CutStyle)

    // MARK: What takes time

    /// Says and answers nothing for so long, by the clock of the broker's loop. What comes meanwhile is dealt with
    /// afterwards; what a fault has held back goes out in its time all the same.
    case pause(Duration)

    /// Says and answers nothing until the test says so. What comes meanwhile is dealt with afterwards; what a fault has
    /// held back goes out in its time all the same.
    case hold(ScriptGate)

    /// Says and answers nothing any more, not even what a fault has held back, but reads on.
    case stall

    /// Reads no more, so that the client's bytes stay with it once the buffers between are full. The script continues.
    case stopReading

    /// Reads again.
    case resumeReading

    // MARK: How it ends

    /// Cuts the connection after what was sent.
    case cut(CutStyle)

    /// Several steps that count as one.
    indirect case group([ScriptStep])
}

/// How a connection is cut.
public enum CutStyle: Hashable, Sendable {
    /// The client reads what was sent and then the end (TCP's FIN).
    case orderly

    /// The connection breaks: over TCP by a reset (RST, `SO_LINGER` 0), in memory by an error. Either takes what is on its
    /// way: over TCP what the client's system has not received, in memory what the client has not read. A Unix socket knows
    /// no reset: the client sees one only if something of it was not read here, and an orderly end otherwise.
    case reset
}

extension ScriptStep {
    /// Expects CONNECT and accepts it.
    ///
    /// - Parameters:
    ///   - isSessionPresent: What the CONNACK says of a session, true or not; `false` by default.
    ///   - properties: The CONNACK's properties; none by default.
    /// - Returns: The step.
    public static func accept(isSessionPresent: Bool = false, properties: PacketProperties = []) -> ScriptStep {
        .group([
            .expect(.connect),
            .send(.connAck(ConnAck(isSessionPresent: isSessionPresent, properties: properties))),
        ])
    }

    /// Expects CONNECT, refuses it and closes.
    ///
    /// - Parameters:
    ///   - reasonCode: Why; 3.1.1 can say only `.unsupportedProtocolVersion`, `.clientIdentifierNotValid`,
    ///     `.serverUnavailable`, `.badUserNameOrPassword` and `.notAuthorized`.
    ///   - properties: The CONNACK's properties, such as a server reference; none by default.
    /// - Returns: The step.
    public static func refuse(_ reasonCode: PacketReasonCode, properties: PacketProperties = []) -> ScriptStep {
        .group([
            .expect(.connect), .send(.connAck(ConnAck(reasonCode: reasonCode, properties: properties))), .cut(.orderly),
        ])
    }

    /// Expects CONNECT and closes without a word, as some brokers do to a version that they do not speak.
    ///
    /// - Parameter style: How it closes; in an orderly way by default.
    /// - Returns: The step.
    public static func closeWithoutAnswer(_ style: CutStyle = .orderly) -> ScriptStep {
        .group([.expect(.connect), .cut(style)])
    }

    /// Sends DISCONNECT and closes; MQTT 5 only.
    ///
    /// - Parameters:
    ///   - reasonCode: Why.
    ///   - serverReference: Where the client should go; nothing by default.
    /// - Returns: The step.
    public static func disconnect(_ reasonCode: PacketReasonCode, serverReference: String? = nil) -> ScriptStep {
        let properties = PacketProperties(serverReference.map { [.serverReference($0)] } ?? [])
        return .group([
            .send(.disconnect(Disconnect(reasonCode: reasonCode, properties: properties))), .cut(.orderly),
        ])
    }
}

extension ScriptStep: CustomStringConvertible {
    /// What the step does, without payloads.
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
