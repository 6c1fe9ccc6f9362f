import CourierCore

/// A reason code, or the return code that older versions have in its place, with its name.
public struct MQTTChuckReason: Hashable, Sendable {
    /// The byte on the wire.
    public let code: UInt8

    /// What it means in this packet and version, such as `Not authorized`.
    public let name: String

    /// Whether it says that something failed.
    public let isError: Bool
}

extension MQTTChuckReason: CustomStringConvertible {
    /// The name and the byte, such as `Not authorized (0x87)`.
    public var description: String { "\(name) (0x\(Hex.text([code])))" }
}

extension MQTTChuckReason {
    /// A reason code of MQTT 5, or one read as such.
    init(_ code: UInt8, name: String? = nil) {
        let reason = ReasonCode(rawValue: code)
        self.init(code: code, name: name ?? reason.name, isError: reason.isError)
    }
}
