/// An MQTT version that this module supports. The raw value is the protocol level byte in CONNECT.
public enum ProtocolVersion: UInt8, CaseIterable, Comparable, Sendable {
    /// MQTT 3.1, whose CONNECT carries the protocol name `MQIsdp`.
    case v31 = 3
    /// MQTT 3.1.1, the OASIS standard of 2014.
    case v311 = 4
    /// MQTT 5.0, the OASIS standard of 2019.
    case v5 = 5

    /// Orders versions from old to new, so that `version >= .v5` tests for MQTT 5 features.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The protocol name that a CONNECT of this version starts with ([MQTT-3.1.2-1]).
    var protocolName: String { self == .v31 ? "MQIsdp" : "MQTT" }
}

extension ProtocolVersion: CustomStringConvertible {
    /// The usual text form of the version: `3.1`, `3.1.1` or `5.0`.
    public var description: String {
        switch self {
        case .v31: "3.1"
        case .v311: "3.1.1"
        case .v5: "5.0"
        }
    }
}
