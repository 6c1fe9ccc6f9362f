import MQTTCodec

/// A rule of the MQTT specification, with its number in each version of MQTT.
struct Clause: Sendable {
    let v311: String?
    let v5: String?

    /// - Parameters:
    ///   - v311: The number in MQTT 3.1.1, such as `3.3.1-6`; `nil` if this version has no such numbered rule.
    ///   - v5: The number in MQTT 5.
    init(_ v311: String?, v5: String?) {
        self.v311 = v311
        self.v5 = v5
    }

    /// A rule that has the same number in both versions of MQTT.
    init(_ both: String) { self.init(both, v5: both) }

    func name(in version: ProtocolVersion) -> String? { (version >= .v5 ? v5 : v311).map { "[MQTT-\($0)]" } }
}

extension Clause {
    /// An accepted message is added to the sessions of all matching subscribers.
    static let delivery = Clause("4.5.0-1")
    /// Messages of one publisher to one topic arrive in the order in which they were sent.
    static let order = Clause("4.6.0-6", v5: "4.6.0-5")
    /// A message is delivered with its own QoS or with the granted QoS, whichever is lower.
    static let deliveredQoS = Clause("3.8.4-6", v5: "3.8.4-8")
    /// A message of QoS 2 is not delivered twice.
    static let exactlyOnce = Clause("4.3.3-2", v5: "4.3.3-10")
    /// A delivered topic matches the filter.
    static let matching = Clause("3.3.2-3")
}
