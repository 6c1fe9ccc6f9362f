package import CourierCore
package import CourierMQTT
import CourierTransport
import Foundation

/// Converts the command line to the types of the SDK.
extension ConnectionArguments {
    /// The seconds between attempts after a lost connection, as in the mosquitto clients.
    static let reconnectInterval: UInt16 = 1

    /// The maximum time to wait after DISCONNECT until the broker closes the connection too. Received bytes are read
    /// during this time. If they were not read, the system would reset the connection, and the broker might miss the
    /// DISCONNECT.
    private static let peerCloseTimeout = Duration.milliseconds(100)
    /// The client id for MQTT 3.1 if the user gives none, because MQTT 3.1 does not allow an empty client id. It has 23
    /// bytes, the maximum of MQTT 3.1.
    private static let randomClientID = "courier-" + String(repeating: "%", count: 15)

    /// The client id in CONNECT. If it is empty, the broker assigns one.
    package var sentClientID: String {
        // The SDK replaces each percent sign in a client id by a random character.
        clientID ?? clientIDPrefix.map { "\($0)\(OwnProcess.id)" } ?? (version == .v31 ? Self.randomClientID : "")
    }

    /// The host name for messages to the user.
    package var shownHost: String { unixPath ?? host ?? "localhost" }

    /// The socket's path, or host and port, for messages to the user.
    var shownPlace: String { unixPath ?? "\(connectOptions.host):\(connectOptions.port)" }

    /// The host, port and credentials of the connection.
    package var connectOptions: ConnectOptions {
        ConnectOptions(
            host: shownHost, port: unixPath == nil ? UInt16(clamping: port ?? defaultPort) : 0, keepAlive: keepAlive,
            clientId: sentClientID, username: username ?? "", password: password ?? "",
            isCleanSession: isCleanSession,
            alpn: tls.applicationProtocol.map { [$0] }, scheme: scheme,
            extendedAuthentication: properties.connect.authenticationMethod.map {
                ExtendedAuthentication(method: $0, data: properties.connect.authenticationData.map { Data($0.utf8) })
            }, userPropertyList: properties.connect.userProperties)
    }

    private var defaultPort: Int { isSecure ? 8_883 : 1_883 }

    private var scheme: String {
        if unixPath != nil { return "unix" }
        switch transport {
        case .tcp: return isSecure ? "mqtts" : "mqtt"
        case .webSocket: return isSecure ? "wss" : "ws"
        }
    }

    /// The client configuration for these arguments, which ``check()`` must have accepted.
    ///
    /// The command adds the message store, the observer and the delivery queue.
    ///
    /// - Returns: The configuration.
    package func configuration() -> MQTTClientConfig {
        var config = MQTTClientConfig(options: connectOptions)
        config.logHandler = nil  // Logs nothing, because the commands print the events themselves.
        config.autoReconnectInterval = Self.reconnectInterval
        config.maxAutoReconnectInterval = Self.reconnectInterval
        config.messageAdapters = [DataMessageAdapter(), TextMessageAdapter()]
        config.peerCloseTimeout = Self.peerCloseTimeout
        config.protocolVersion =
            switch version {
            case .v31: .version31
            case .v311: .version311
            case .v5: .version5
            }
        config.will = willMessage
        config.session.expiry = .seconds(wantedSessionExpiry)
        config.limits.maximumInFlight = maximumInFlight
        if let maximum = properties.connect.receiveMaximum { config.limits.receiveMaximum = maximum }
        if let maximum = properties.connect.maximumPacketSize { config.limits.maximumPacketSize = Int(maximum) }
        if let maximum = properties.connect.topicAliasMaximum { config.session.topicAliasMaximum = maximum }
        if let isWanted = properties.connect.requestsProblemInformation {
            config.session.requestsProblemInformation = isWanted
        }
        if let isWanted = properties.connect.requestsResponseInformation {
            config.session.requestsResponseInformation = isWanted
        }
        if let alias = properties.topicAlias, role != .subscriber, let topic = topics.last {
            config.session.topicAliases = [topic: alias]
        }
        if isSecure { config.tls = tlsConfiguration }
        if let proxy { config.proxy = .proxy(proxy) }
        config.environment.localBinding = localBinding
        config.endpoints.usesServiceRecords = usesServiceRecords
        config.session.subscriptionOptions = subscriptionOptions
        config.session.subscriptionOptions.identifier = properties.subscribe.identifier
        config.session.subscriptionOptions.userProperties = properties.subscribe.userProperties
        return config
    }

    /// The fields of the DISCONNECT packet.
    var disconnectOptions: DisconnectOptions {
        DisconnectOptions(
            reasonCode: disconnectReason,
            sessionExpiry: properties.disconnect.sessionExpiry.map { .seconds($0) },
            reasonString: properties.disconnect.reasonString, userProperties: properties.disconnect.userProperties)
    }

    private var willMessage: WillMessage? {
        guard let topic = will.topic else { return nil }
        return WillMessage(
            topic: topic, text: will.payload ?? "", qos: Self.level(will.qos), isRetained: will.isRetained,
            delay: properties.willDelay, properties: properties.will)
    }

    private var tlsConfiguration: TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        if let file = tls.authoritiesFile { configuration.trust = .authoritiesFile(file) }
        if let folder = tls.authoritiesFolder { configuration.trust = .authoritiesDirectory(folder) }
        configuration.checksServerName = !tls.isInsecure
        if let certificate = tls.certificateFile, let key = tls.keyFile {
            configuration.identity =
                tls.isKeyInHardware
                ? TLSIdentity(certificateFile: certificate, pkcs11Key: key)
                : TLSIdentity(certificateFile: certificate, privateKeyFile: key)
        }
        if let identity = tls.preSharedKeyIdentity, let key = tls.preSharedKey {
            // `check()` has already checked the key, so this call does not fail.
            configuration.preSharedKey = try? TLSPreSharedKey(identity: identity, hex: key)
        }
        if tls.version == "tlsv1.3" { configuration.minimumVersion = .tls13 }
        configuration.ciphers = tls.ciphers
        configuration.keyLogFile = tls.keyLogFile
        return configuration
    }
}
