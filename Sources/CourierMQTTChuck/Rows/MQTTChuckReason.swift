import CourierCore

/// An MQTT 5 reason code, or the return code of an older version, with its name.
public struct MQTTChuckReason: Hashable, Sendable {
    /// The code on the wire.
    public let code: UInt8

    /// The meaning of the code in this packet type and MQTT version, such as `Not authorized`.
    public let name: String

    /// True if the code reports a failure.
    public let isError: Bool
}

extension MQTTChuckReason: CustomStringConvertible {
    /// The name and the code in hex, such as `Not authorized (0x87)`.
    public var description: String { "\(name) (0x\(Hex.text([code])))" }
}

extension MQTTChuckReason {
    /// Creates a reason from an MQTT 5 reason code, or from an older return code that the decoder has translated to a
    /// reason code.
    init(_ code: UInt8, name: String? = nil) {
        let reason = ReasonCode(rawValue: code)
        self.init(code: code, name: name ?? reason.name, isError: reason.isError)
    }
}
