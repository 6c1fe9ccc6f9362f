import CourierCore
import CourierTransport

/// The settings that all connections of a client share. Settings of one connection are in `ConnectOptions`.
struct ConnectionSettings: Sendable {
    /// The versions of MQTT that the client may use.
    var version = ProtocolVersionPolicy.preferVersion5
    /// The rules for the texts that the client sends.
    var texts = WireText.portable
    /// The will message of every connection.
    @BoxedOptional var will: WillMessage?
    /// The settings of TLS. If they are set, TLS is used. If they are `nil`, the connect options decide whether TLS is
    /// used.
    @BoxedOptional var tls: TLSClientConfiguration?
    /// The topic aliases that the app chose. Each key is a topic.
    @BoxedOptional var topicAliases: [String: UInt16]?
    /// The proxy for brokers that are addressed by host name or IP address; none by default.
    var proxy: ProxySetting {
        get { rareProxy ?? .direct }
        set { if case .direct = newValue { rareProxy = nil } else { rareProxy = newValue } }
    }

    @BoxedOptional private var rareProxy: ProxySetting?

    /// The timeouts and limits. Clients with equal limits share one copy.
    var limits: ConnectionLimits {
        get { sharedLimits.value }
        set { sharedLimits = Self.memory.share(newValue) }
    }

    private static let memory = Shared<ConnectionLimits>.Memory()
    private var sharedLimits: Shared<ConnectionLimits>

    /// Makes settings with `limits`, and with default values for all other settings.
    init(_ limits: ConnectionLimits = ConnectionLimits()) { sharedLimits = Self.memory.share(limits) }
}

extension ConnectionSettings {
    /// Checks that the values are in range. Reads no file.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` whose message contains the option, its value and its range.
    func check() throws(CourierError) {
        try will?.check(texts)
        try limits.check()
        try Self.checkTopicAliases(topicAliases ?? [:])
        if let tls { try Self.checkProtocolNames(tls.applicationProtocols) }
    }

    /// The largest number of topic aliases that the app may choose.
    static let topicAliasLimit = 100

    private static func checkTopicAliases(_ aliases: [String: UInt16]) throws(CourierError) {
        guard aliases.count <= topicAliasLimit else {
            throw CourierError(
                .invalidConfiguration,
                "The option `session.topicAliases` has \(aliases.count) topics; at most \(topicAliasLimit) are allowed."
            )
        }
        var topics: [UInt16: String] = [:]
        for (topic, alias) in aliases.sorted(by: { $0.key < $1.key }) {
            do {
                _ = try TopicName(topic)
            } catch {
                throw CourierError(option: "The option `session.topicAliases`", error)
            }
            guard alias > 0 else {  // [MQTT-3.3.2-8]
                throw CourierError(
                    .invalidConfiguration,
                    "The option `session.topicAliases` has the alias 0 for \(topic.quoted()); it must be 1 to 65535.")
            }
            if let other = topics.updateValue(topic, forKey: alias) {
                throw CourierError(
                    .invalidConfiguration,
                    "The option `session.topicAliases` has the alias \(alias) for two topics: "
                        + "\(other.quoted()) and \(topic.quoted()). Give each topic an alias of its own.")
            }
        }
    }

    /// The largest number of application protocols (ALPN) that the client may offer.
    static let protocolNameLimit = 16

    /// Checks the names of application protocols (ALPN). A name has 1 to 255 bytes (RFC 7301, section 3.1).
    static func checkProtocolNames(_ names: [String]) throws(CourierError) {
        guard names.count <= protocolNameLimit else {
            throw CourierError(
                .invalidConfiguration,
                "There are \(names.count) application protocols (ALPN); at most \(protocolNameLimit) are allowed.")
        }
        for name in names where !(1...255).contains(name.utf8.count) {
            throw CourierError(
                .invalidConfiguration,
                "The application protocol (ALPN) \(name.quoted()) has \(name.utf8.count) bytes; it must have 1 to 255.")
        }
    }
}
