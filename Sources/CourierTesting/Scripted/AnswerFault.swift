public import MQTTCodec

/// What goes wrong with answers that a ``ScriptedBroker`` gives by itself, such as PUBACK and SUBACK.
///
/// ```swift
/// [.accept(), .fault(.drop(.pubAck, count: 2)), .fault(.delay(.subAck, by: .seconds(5)))]
/// ```
///
/// The first fault that is for an answer's type and is not used up takes it; later answers may overtake one that is held
/// back. Packets that a script sends by ``ScriptStep/send(_:)`` have no faults.
public struct AnswerFault: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        case dropped
        case repeated(times: Int)
        case delayed(Duration)
        case held(ScriptGate)
        case reversed(groupSize: Int)
        case replaced([Packet])
    }

    /// The type of the answers.
    public let type: PacketType

    /// How many answers it is for, counted from the step that names it.
    public let count: Int

    let kind: Kind

    private init(_ type: PacketType, _ count: Int, _ kind: Kind) {
        self.type = type
        self.count = max(0, count)
        self.kind = kind
    }

    /// They are not sent.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func drop(_ type: PacketType, count: Int = 1) -> AnswerFault { AnswerFault(type, count, .dropped) }

    /// They are sent several times.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - times: How often in all; twice by default.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func repeated(_ type: PacketType, times: Int = 2, count: Int = 1) -> AnswerFault {
        AnswerFault(type, count, .repeated(times: max(1, times)))
    }

    /// They are sent later, by the clock of the broker's loop.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - delay: How much later.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func delay(_ type: PacketType, by delay: Duration, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .delayed(delay))
    }

    /// They are sent once the test says so.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - gate: Says when.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func hold(_ type: PacketType, until gate: ScriptGate, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .held(gate))
    }

    /// They are sent in groups, each in the reverse of its order; a group that does not fill stays back.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - groupSize: How many answers make a group; two by default.
    ///   - count: How many answers; all by default.
    /// - Returns: The fault.
    public static func reverse(_ type: PacketType, groupsOf groupSize: Int = 2, count: Int = .max) -> AnswerFault {
        AnswerFault(type, count, .reversed(groupSize: max(1, groupSize)))
    }

    /// Others are sent instead.
    ///
    /// - Parameters:
    ///   - type: The type of the answers.
    ///   - packets: What is sent, such as an acknowledgement of an id that nobody used.
    ///   - count: How many answers; one by default.
    /// - Returns: The fault.
    public static func replace(_ type: PacketType, with packets: Packet..., count: Int = 1) -> AnswerFault {
        AnswerFault(type, count, .replaced(packets))
    }

    /// What happens to which answers.
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
