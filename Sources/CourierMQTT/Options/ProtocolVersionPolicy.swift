import MQTTCodec

/// Which version of MQTT a client speaks.
public enum ProtocolVersionPolicy: Hashable, Sendable {
    /// MQTT 5, and 3.1.1 with a broker that does not know MQTT 5; the default.
    ///
    /// A connection that 3.1.1 cannot express, with a password and no user name, does not fall back.
    case preferVersion5

    /// MQTT 5 only.
    case version5

    /// MQTT 3.1.1 only.
    case version311

    /// MQTT 3.1 only, for brokers that are older than the standard.
    ///
    /// It needs a client id. A broker may refuse one of more than 23 bytes.
    case version31

    /// The version of the first CONNECT.
    var first: ProtocolVersion {
        switch self {
        case .preferVersion5, .version5: .v5
        case .version311: .v311
        case .version31: .v31
        }
    }
}
