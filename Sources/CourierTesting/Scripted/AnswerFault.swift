public import MQTTCodec

/// A fault in the automatic answers of a ``ScriptedBroker``, such as PUBACK and SUBACK.
///
/// ```swift
/// [.accept(), .fault(.drop(.pubAck, count: 2)), .fault(.delay(.subAck, by: .seconds(5)))]
/// ```
///
/// Several faults may exist for one packet type. The oldest fault that is not used up then applies to the next answer.
/// Later answers may overtake a delayed answer. Faults do not apply to packets that a script sends by
/// ``ScriptStep/send(_:)``.
public struct AnswerFault: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        case dropped
        case repeated(times: Int)
        case delayed(Duration)
        case held(ScriptGate)
        case reversed(groupSize: Int)
        case replaced([Packet])
    }

    /// The packet type of the answers.
    public let type: PacketType

    /// The number of answers that the fault applies to, counted from the step that adds the fault.
    public let count: Int

    let kind: Kind

    private init(_ type: PacketType, _ count: Int, _ kind: Kind) {
        self.type = type
        self.count = max(0, count)
        self.kind = kind
    }

    /// Drops answers.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func drop(_ type: PacketType, count: Int = 1) -> AnswerFault { AnswerFault(type, count, .dropped) }

    /// Sends answers several times.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - times: How often each answer is sent; twice by default.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func repeated(_ type: PacketType, times: Int = 2, count: Int = 1) -> AnswerFault {
        AnswerFault(type, count, .repeated(times: max(1, times)))
    }

    /// Sends answers later, by the clock of the broker's loop.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - delay: The delay of each answer.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func delay(_ type: PacketType, by delay: Duration, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .delayed(delay))
    }

    /// Holds answers back until the test opens a gate.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - gate: The gate.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func hold(_ type: PacketType, until gate: ScriptGate, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .held(gate))
    }

    /// Collects answers in groups, and sends each group in reverse order. A group that is not full is not sent.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - groupSize: How many answers make a group; two by default.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func reverse(_ type: PacketType, groupsOf groupSize: Int = 2, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .reversed(groupSize: max(1, groupSize)))
    }

    /// Sends other packets instead of answers.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - packets: The packets to send, such as an acknowledgement with an unused packet id.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func replace(_ type: PacketType, with packets: Packet..., count: Int = 1) -> AnswerFault {
        AnswerFault(type, count, .replaced(packets))
    }

    /// The fault in words.
    public var description: String {
        switch kind {
        case .dropped: "drop \(type)"
        case .repeated(let times): "send \(type) \(times) times"
        case .delayed(let delay): "delay \(type) by \(delay)"
        case .held: "hold \(type) back"
        case .reversed(let size): "reverse \(type) in groups of \(size)"
        case .replaced: "replace \(type)"
        }
    }
}
