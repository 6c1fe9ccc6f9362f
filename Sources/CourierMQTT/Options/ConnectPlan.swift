import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// The checked parameters of one connection, made from the provider's options and the client's settings.
///
/// Making a plan does no I/O, so any thread may make one, and a test needs no network.
struct ConnectPlan: Sendable {
    /// The options that the plan was made from.
    let options: ConnectOptions
    /// The CONNECT packet, and the limits of the session.
    let engine: EngineConfiguration
    /// The endpoint to connect to.
    let endpoint: TransportEndpoint
    /// The settings of TLS; `nil` without TLS.
    var tls: TLSClientConfiguration?
    /// The proxy to connect through, or `ProxySetting/direct` for none.
    let proxy: ProxySetting
    /// The limits of the byte channel, which carries the bytes of a connection, and its WebSocket settings.
    let channel: ChannelOptions
    /// The broker's name in events and errors, such as `mqtts://broker.example:8883` or
    /// `wss://broker.example:443/mqtt`. It contains no secret.
    let name: String

    /// Makes a plan from the options and the settings, and checks that they are valid together.
    ///
    /// - Parameters:
    ///   - options: The options of the auth provider. In their client id, each `%` of the template is already replaced.
    ///   - settings: The settings of the configuration, which must have passed ``ConnectionSettings/check()``.
    ///   - endpoint: The app's own stream or descriptors. If it is not `nil`, host, port and scheme are ignored, and
    ///     TLS is used only if the settings contain it.
    /// - Throws: ``CourierError/Code/invalidConfiguration``, whose message names the problem, its place and the remedy.
    init(
        _ options: ConnectOptions, _ settings: ConnectionSettings, endpoint: TransportEndpoint? = nil
    ) throws(CourierError) {
        try ClientIDSource.check(options.clientId, settings.texts)
        let route = try Route(options, settings.tls, endpoint)
        self.options = options
        self.endpoint = route.endpoint
        name = route.name
        tls = route.tls
        proxy = settings.proxy
        engine = try Self.engine(options, settings)
        var channel = settings.limits.channel
        channel.webSocket = route.webSocket
        channel.connectTimeout = settings.limits.connectTimeout
        // The channel must be able to store an incomplete packet until the rest arrives. So its limit is at least the
        // size of the largest packet that the engine accepts, plus one read buffer.
        channel.remainderLimit = max(
            channel.remainderLimit, settings.limits.maximumPacketSize + EventLoop.readBufferSize)
        self.channel = channel
    }
}

extension ConnectPlan {
    /// Checks that a CONNECT packet can be made from the options, for any endpoint.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration``, whose message names the problem, its place and the remedy.
    static func checkConnect(_ options: ConnectOptions, _ settings: ConnectionSettings) throws(CourierError) {
        try ClientIDSource.check(options.clientId, settings.texts)
        _ = try connect(options, settings)
    }

    private static func engine(
        _ options: ConnectOptions, _ settings: ConnectionSettings
    ) throws(CourierError) -> EngineConfiguration {
        var configuration = EngineConfiguration(connect: try connect(options, settings))
        switch settings.version {
        // MQTT 3.1.1 supports neither a password without a user name [MQTT-3.1.2-22] nor extended authentication. If
        // the options need one of these features, the client does not fall back to MQTT 3.1.1.
        case .preferVersion5:
            configuration.fallsBackToVersion311 = !options.hasPasswordOnly && options.extendedAuthentication == nil
        case .version5, .version311, .version31: configuration.fallsBackToVersion311 = false
        }
        configuration.sessionLossPolicy = settings.limits.sessionLossPolicy
        configuration.acknowledgements = settings.limits.acknowledgements
        configuration.awaitsStorage = settings.limits.awaitsStorage
        configuration.connectTimeout = settings.limits.connAckTimeout
        configuration.pingTimeout = settings.limits.pingTimeout
        configuration.acknowledgementTimeout = settings.limits.acknowledgementTimeout
        configuration.maximumInFlight = settings.limits.maximumInFlight
        configuration.maximumInFlightBeforeVersion5 = settings.limits.maximumInFlightBeforeVersion5
        configuration.receiveMaximum = settings.limits.receiveMaximum
        configuration.maximumPacketSize = settings.limits.maximumPacketSize
        configuration.incomingTopicAliases = settings.limits.incomingTopicAliases
        configuration.outgoingTopicAliases = settings.limits.outgoingTopicAliases
        configuration.fixedTopicAliases = settings.topicAliases ?? [:]
        return configuration
    }

    private static func connect(
        _ options: ConnectOptions, _ settings: ConnectionSettings
    ) throws(CourierError) -> Connect {
        try options.checkCredentials(for: settings.version, settings.texts)
        var connect = Connect(
            version: settings.version.first, clientID: options.clientId,
            isCleanStart: options.isCleanSession, keepAlive: settings.limits.keepAlive ?? options.keepAlive,
            username: options.username.isEmpty ? nil : options.username,
            password: options.password.isEmpty ? nil : SecretBytes(options.password), will: settings.will?.packet)
        guard connect.version >= .v5 else {
            connect.will?.properties = []
            return connect
        }
        // An MQTT 5 session ends with its connection if CONNECT has no session expiry (3.1.2.11.2). So add a session
        // expiry if the session must continue. MQTT 3.1.1 sessions continue without a session expiry.
        if !options.isCleanSession, let expiry = WireSeconds(settings.limits.sessionExpiry)?.rawValue, expiry > 0 {
            connect.properties.append(.sessionExpiryInterval(expiry))
        }
        if !settings.limits.requestsProblemInformation { connect.properties.append(.requestProblemInformation(false)) }
        if settings.limits.requestsResponseInformation { connect.properties.append(.requestResponseInformation(true)) }
        if let authentication = options.extendedAuthentication {
            connect.properties.list += authentication.properties
        }
        for property in try options.checkedUserProperties(settings.texts) { connect.properties.append(property) }
        return connect
    }
}
