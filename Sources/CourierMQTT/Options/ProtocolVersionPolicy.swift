/// Which version of MQTT a client speaks.
public enum ProtocolVersionPolicy: Hashable, Sendable {
    /// MQTT 5, and 3.1.1 with a broker that does not know MQTT 5; the default.
    ///
    /// A connection that 3.1.1 can not express, with a password and no user name, does not fall back.
    case preferVersion5

    /// MQTT 5 only.
    case version5

    /// MQTT 3.1.1 only.
    case version311
}
