import CourierCore
import CourierTransport
import MQTTCodec

/// The reason why a command could not complete its exchange of packets with a broker.
enum LinkFailure: Error, Hashable, Sendable {
    case transport(TransportError)
    /// The broker closed the connection without sending a packet.
    case closed
    /// The broker's response did not arrive in time.
    case silent
    /// The broker responded to an MQTT 5 CONNECT in the format of MQTT 3.1.1.
    case speaksOlderVersion
    /// The bytes are not MQTT, or the packet is not allowed here.
    case unreadable(String)
    /// A packet of this program cannot be encoded.
    case unsendable(String)
    /// The broker sent DISCONNECT.
    case disconnected(PacketReasonCode)
    /// The broker refused the connection in its CONNACK.
    case refused(PacketReasonCode)
    /// The broker refused a message.
    case messageRefused(PacketReasonCode)
    /// The broker refused a subscription.
    case subscriptionRefused(PacketReasonCode)
    /// A signal ended the command.
    case interrupted

    /// True if the connection is still open, so that a DISCONNECT can be sent to end the session.
    var leavesConnected: Bool {
        switch self {
        case .silent, .messageRefused, .subscriptionRefused, .unsendable, .interrupted: true
        case .transport, .closed, .speaksOlderVersion, .unreadable, .disconnected, .refused: false
        }
    }

    /// Returns the reason as a sentence without its full stop. `timeLimit` is the time limit of the response in seconds.
    func text(timeLimit: Int) -> String {
        switch self {
        case .transport(let error): error.message
        case .closed: "the broker closes the connection without an answer"
        case .silent: "no answer within \(timeLimit) \(timeLimit == 1 ? "second" : "seconds")"
        case .unreadable(let reason): "the answer is not valid MQTT: \(reason)"
        case .unsendable(let reason): "the packet cannot be sent: \(reason)"
        case .disconnected(let code): "the broker ends the connection: \(Self.name(code))"
        case .refused(let code): "the broker refuses the connection: \(Self.name(code))"
        case .messageRefused(let code): "the broker refuses the message: \(Self.name(code))"
        case .subscriptionRefused(let code): "the broker refuses the subscription: \(Self.name(code))"
        case .speaksOlderVersion: "the broker does not support this version"
        case .interrupted: "a signal ended the command"
        }
    }

    /// The name of a reason code, in the words of the specification.
    static func name(_ code: PacketReasonCode) -> String { ReasonCode(rawValue: code.rawValue).name }
}
