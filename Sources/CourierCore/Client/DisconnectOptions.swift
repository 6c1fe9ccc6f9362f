/// The fields of the DISCONNECT packet of MQTT 5. With MQTT 3.1.1, only ``reasonCode`` has an effect.
///
/// ```swift
/// // The broker keeps the session for one more minute, although CONNECT requested some days.
/// try await client.disconnectAndWait(DisconnectOptions(sessionExpiry: .seconds(60)))
/// ```
///
/// Later versions may add fields with defaults that keep today's behavior.
public struct DisconnectOptions: Hashable, Sendable {
    /// The reason that the broker receives; ``ReasonCode/normalDisconnection`` by default.
    ///
    /// With any other code, the broker publishes the client's will. ``ReasonCode/disconnectWithWillMessage`` asks the
    /// broker to publish the will, and reports no error. The client refuses a code that only a broker may send.
    ///
    /// MQTT 3.1.1 has no reason code in DISCONNECT. With any code except the default, the client closes the connection
    /// without DISCONNECT, so that the broker also publishes the will.
    public var reasonCode: ReasonCode

    /// How long the broker keeps the session after DISCONNECT, in whole seconds. `nil`, the default, keeps the time
    /// that CONNECT requested.
    ///
    /// If CONNECT requested 0 s or a clean session, the session ends with its connection. The client refuses a call
    /// that would extend the session (MQTT 5.0, section 3.14.2.2.2).
    public var sessionExpiry: Duration?

    /// A text for the broker's log, at most 65,535 bytes; `nil` by default.
    public var reasonString: String?

    /// The user properties of DISCONNECT, in this order; empty by default, at most 256.
    public var userProperties: [UserProperty]

    /// Makes options. By default, they contain only the reason code.
    ///
    /// - Parameters:
    ///   - reasonCode: The reason that the broker receives; ``ReasonCode/normalDisconnection`` by default.
    ///   - sessionExpiry: How long the broker keeps the session after DISCONNECT; `nil` by default.
    ///   - reasonString: A text for the broker's log.
    ///   - userProperties: The user properties of DISCONNECT.
    public init(
        reasonCode: ReasonCode = .normalDisconnection, sessionExpiry: Duration? = nil, reasonString: String? = nil,
        userProperties: [UserProperty] = []
    ) {
        self.reasonCode = reasonCode
        self.sessionExpiry = sessionExpiry
        self.reasonString = reasonString
        self.userProperties = userProperties
    }
}
