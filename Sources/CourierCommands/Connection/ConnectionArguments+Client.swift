package import CourierCore
package import CourierMQTT
import CourierTransport
import Foundation
import Glibc

/// The way from the command line to the SDK.
extension ConnectionArguments {
    /// Seconds between attempts after a loss, as the mosquitto clients have it.
    static let reconnectInterval: UInt16 = 1

    /// How long the end of a connection waits for the broker to close too, after DISCONNECT was written. Bytes of the
    /// broker that come meanwhile are read: unread, they would reset the connection, and the broker could miss DISCONNECT.
    private static let peerCloseTimeout = Duration.milliseconds(100)

    /// The client id that is sent; empty lets the broker choose one.
    package var sentClientID: String {
        // In the SDK's client ids a percent sign stands for a random character.
        clientID ?? clientIDPrefix.map { "\($0)\(getpid())" } ?? ""
    }

    /// The host as messages call it.
    package var shownHost: String { unixPath ?? host ?? "localhost" }

    /// Where and as whom to connect.
    package var connectOptions: ConnectOptions {
        ConnectOptions(
            host: shownHost, port: unixPath == nil ? UInt16(clamping: port ?? defaultPort) : 0, keepAlive: keepAlive,
            clientId: sentClientID, username: username ?? "", password: password ?? "",
            isCleanSession: isCleanSession,
            userProperties: properties.connect.userProperties.isEmpty ? nil : properties.connect.userProperties,
            alpn: tls.applicationProtocol.map { [$0] }, scheme: scheme,
            extendedAuthentication: properties.connect.authenticationMethod.map {
                ExtendedAuthentication(method: $0, data: properties.connect.authenticationData.map { Data($0.utf8) })
            })
    }

    private var defaultPort: Int { isSecure ? 8_883 : 1_883 }

    private var scheme: String {
        if unixPath != nil { return "unix" }
        switch transport {
        case .tcp: return isSecure ? "mqtts" : "mqtt"
        case .webSocket: return isSecure ? "wss" : "ws"
        }
    }

    /// The configuration of a client for these arguments, which ``check()`` has found right.
    ///
    /// The message store, the observer and the delivery queue are the command's to add.
    ///
    /// - Returns: The configuration.
    package func configuration() -> MQTTClientConfig {
        var config = MQTTClientConfig(options: connectOptions)
        config.autoReconnectInterval = Self.reconnectInterval
        config.maxAutoReconnectInterval = Self.reconnectInterval
        config.messageAdapters = [DataMessageAdapter(), TextMessageAdapter()]
        config.protocolVersion = version == .v5 ? .version5 : .version311
        config.peerCloseTimeout = Self.peerCloseTimeout
        config.will = willMessage
        config.sessionExpiry = .seconds(wantedSessionExpiry)
        config.maximumInFlight = maximumInFlight
        if let maximum = properties.connect.receiveMaximum { config.receiveMaximum = maximum }
        if let maximum = properties.connect.maximumPacketSize { config.maximumPacketSize = Int(maximum) }
        if isSecure { config.tls = tlsConfiguration }
        if let proxy { config.proxy = .proxy(proxy) }
        config.endpoints.usesServiceRecords = usesServiceRecords
        config.subscriptionOptions = subscriptionOptions
        return config
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
            configuration.identity = TLSIdentity(certificateFile: certificate, privateKeyFile: key)
        }
        if tls.version == "tlsv1.3" { configuration.minimumVersion = .tls13 }
        return configuration
    }
}
