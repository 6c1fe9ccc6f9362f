import CourierMQTT
import CourierTransport
import MQTTCodec

/// The address of the broker that a command examines, with the settings of TLS and proxy and the credentials.
struct BrokerAddress: Sendable {
    let host: String
    let port: UInt16
    let username: String
    let password: String
    let endpoint: TransportEndpoint
    /// The configuration of TLS; `nil` without TLS.
    var tls: TLSClientConfiguration?
    let proxy: ProxySetting

    init(_ arguments: ConnectionArguments) {
        let configuration = arguments.configuration()
        let options = arguments.connectOptions
        // The brackets of an IPv6 address are removed, because the look-up of addresses does not accept them. The
        // clients accept an address with or without brackets.
        let hasBrackets = options.host.hasPrefix("[") && options.host.hasSuffix("]")
        host = hasBrackets ? String(options.host.dropFirst().dropLast()) : options.host
        port = options.port
        username = options.username
        password = options.password
        endpoint = arguments.unixPath.map { .unix(path: $0) } ?? .tcp(host: host, port: options.port)
        tls = arguments.isSecure ? configuration.tls ?? TLSClientConfiguration() : nil
        proxy = configuration.proxy
    }

    /// Returns a CONNECT with the credentials.
    func connect(_ version: ProtocolVersion, clientID: String, keepAlive: UInt16) -> Connect {
        let username = username.isEmpty ? nil : username
        // MQTT 3.1.1 does not allow a password without a user name, so such a password is left out. [MQTT-3.1.2-22]
        let hasPassword = !password.isEmpty && (version >= .v5 || username != nil)
        return Connect(
            version: version, clientID: clientID, keepAlive: keepAlive, username: username,
            password: hasPassword ? SecretBytes(password) : nil)
    }
}
