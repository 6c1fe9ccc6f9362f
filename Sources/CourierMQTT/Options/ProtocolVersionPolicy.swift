import MQTTCodec

/// The versions of MQTT that a client may use.
public enum ProtocolVersionPolicy: Hashable, Sendable {
    /// MQTT 5, or 3.1.1 if the broker does not know MQTT 5; the default.
    ///
    /// The client does not fall back to 3.1.1 if the options have a password without a user name, or extended
    /// authentication. MQTT 3.1.1 supports neither of them.
    case preferVersion5

    /// MQTT 5 only.
    case version5

    /// MQTT 3.1.1 only.
    case version311

    /// MQTT 3.1 only, for brokers that are older than the MQTT standard.
    ///
    /// A client id is required. A broker may refuse a client id of more than 23 bytes.
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
