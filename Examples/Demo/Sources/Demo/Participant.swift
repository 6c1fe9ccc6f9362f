import CourierCore
import CourierMQTT
import Foundation

/// A client with its token service, and a record of its connections.
///
/// It belongs to the main actor, because a client calls handlers and sinks on the main queue by default.
@MainActor final class Participant: @MainActor ICourierEventHandler {
    /// The client is configured for exactly these pauses between attempts. Random pauses (jitter) could not be checked.
    static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    let name: String
    let tokens: TokenService
    let client: any CourierClient
    private let screen: Screen
    private let stage: Stage

    private(set) var isConnected = false
    private(set) var connectionCount = 0
    private(set) var failureCount = 0
    private(set) var lossCount = 0
    /// The time from each failed attempt, or from the connection loss, to the next attempt.
    private(set) var intervals: [Duration] = []
    private(set) var connectedAt = ContinuousClock.now
    private var endedAt: ContinuousClock.Instant?

    init(_ name: String, port: UInt16, token: String, through cable: Cable, _ screen: Screen, _ stage: Stage) {
        self.name = name
        self.screen = screen
        self.stage = stage
        tokens = TokenService(clientID: name, port: port, token: token)

        var config = MQTTClientConfig(provider: tokens)
        config.messageAdapters = [JSONMessageAdapter(), PlistMessageAdapter()]
        config.adapterRules = [AdapterRule("positions/#", contentType: "application/x-plist")]
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 30
        config.reconnect.jitter = .none
        // The broker runs in this process, so the client must connect even without a network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        // No log, because the demo loses connections on purpose and prints the events itself.
        config.logHandler = nil
        config.endpoint = { cable.endpoint(for: $0) }
        client = CourierClientFactory().makeMQTTClient(config: config)
        client.addEventHandler(self)
    }

    func onEvent(_ event: CourierEvent) {
        let now = ContinuousClock.now
        switch event.type {
        case .connectionServiceAuthStart: screen.tell(name, "asks for a token", .quiet)
        case .connectionServiceAuthSuccess(let timeTaken):
            screen.tell(name, "has a token, after \(timeTaken) ms", .quiet)
        case .connectionServiceAuthFailure(_, let error):
            screen.tell(name, "has no token: \(sentence(error))", .bad)
        case .connectionAttempt:
            if let endedAt { intervals.append(now - endedAt) }
        case .connectionSuccess:
            (isConnected, endedAt, connectedAt) = (true, nil, now)
            connectionCount += 1
            screen.tell(name, intervals.isEmpty ? "connected" : "\(attempt) connected", .good)
        case .connectionFailure(_, let error):
            endedAt = now
            failureCount += 1
            screen.tell(name, "\(attempt) \(sentence(error))", .notable)
        case .connectionLost(_, let error, _, _):
            (isConnected, endedAt) = (false, now)
            lossCount += 1
            screen.tell(name, "lost its connection: \(sentence(error))", .bad)
        case .messageReceiveFailure(let topic, let error, _), .messageSendFailure(let topic, _, let error, _):
            screen.tell(name, "\(topic): \(sentence(error))", .bad)
        default: break
        }
        stage.changed()
    }

    private var attempt: String {
        guard let interval = intervals.last else { return "first attempt:" }
        return "attempt \(intervals.count), \(Screen.seconds(interval)) later:"
    }

    private func sentence(_ error: (any Error)?) -> String {
        if let error = error as? CourierError { return error.message }
        return error.map { "\($0)" } ?? "no reason given"
    }
}
