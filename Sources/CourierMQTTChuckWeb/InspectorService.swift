import CourierCore
import CourierMQTTChuck

/// Serves the page: the server, its access rules, its responses, and its event streams.
final class InspectorService: Sendable {
    let token = AccessToken.random()
    private let server: HTTPServer
    private let ticker: Ticker

    var port: UInt16 { server.port }

    init(
        _ logger: MQTTChuckLogger, port: UInt16, _ limits: ServerLimits,
        clientMetrics: @escaping @Sendable () -> [String: ClientMetrics],
        parkedMessages: @escaping @Sendable () -> [String: any ParkedMessages]
    ) throws(CourierError) {
        let room = WaitingRoom()
        server = try HTTPServer(port: port, limits: limits, room: room)
        ticker = Ticker(logger, room, limits)
        let routes = InspectorRoutes(
            logger, ticker, room, AccessRules(token: token, port: server.port), limits, clientMetrics: clientMetrics,
            parkedMessages: parkedMessages)
        server.open(guardian: routes.refusal(of:), handler: routes.answer(to:))
    }

    func stop() {
        ticker.stop()
        server.stop()
    }
}
