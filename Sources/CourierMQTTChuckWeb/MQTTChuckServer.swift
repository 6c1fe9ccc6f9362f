public import CourierCore
public import CourierMQTTChuck
public import Foundation

/// Serves the web page of a logger to browsers on this machine.
///
/// ```swift
/// let server = try logger.serve()
/// print(server.url)  // http://127.0.0.1:40123/7xQ…/
/// ```
///
/// The server listens only on 127.0.0.1, and answers only requests with the random token of ``url``. Everyone who knows
/// the address can see the packets of the logger, so print the address only for people who may see them. The server
/// refuses requests with another host name, from pages of other origins, or without the token. The page loads nothing
/// from other servers.
///
/// The server has one thread, one more thread per export, and a limited number of connections. No connection can block
/// the logger or the clients that it is attached to. A hidden page holds no connection, so any number of tabs may be
/// open. At most five visible windows work at the same time.
public final class MQTTChuckServer: Sendable {
    /// The address of the page, with the token.
    public let url: URL

    /// The port that the server listens on.
    public let port: UInt16

    private let service: InspectorService

    init(_ service: InspectorService, url: URL) {
        self.service = service
        self.url = url
        port = service.port
    }

    deinit {
        // The server stops on another thread, because the last reference may be released on a thread that must not
        // wait, such as the server's own.
        DispatchQueue.global().async { [service] in service.stop() }
    }

    /// Ends all connections and frees the port.
    ///
    /// The call returns after the server's thread has ended. This takes some milliseconds, or longer while a payload
    /// parser of the app runs. A parser must not call this method. A second call does nothing. The server also stops
    /// shortly after the last reference to it is released.
    public func stop() { service.stop() }
}

extension MQTTChuckLogger {
    /// Serves this logger's page until the returned server is stopped or released.
    ///
    /// Any thread may call this method. It returns at once. A logger may have several servers.
    ///
    /// The path `metrics` returns counts in the text format of Prometheus. It can include the metrics of clients:
    ///
    /// ```swift
    /// let server = try logger.serve(clientMetrics: { ["orders": client.metrics] })
    /// ```
    ///
    /// - Parameters:
    ///   - port: The port on 127.0.0.1; 0, the default, selects a free port.
    ///   - clientMetrics: Returns metrics of clients by the clients' names. Called on the server's thread for each
    ///     request of `metrics`. No clients by default.
    ///   - parkedMessages: Returns the parked messages of clients by the clients' names, as in
    ///     `["orders": client.parked]`. The page lists them, and can retry and remove them. No clients by default.
    /// - Returns: The server, with the address to open.
    /// - Throws: ``CourierCore/CourierError`` with code `invalidConfiguration` if the port is in use.
    public func serve(
        port: UInt16 = 0, clientMetrics: @escaping @Sendable () -> [String: ClientMetrics] = { [:] },
        parkedMessages: @escaping @Sendable () -> [String: any ParkedMessages] = { [:] }
    ) throws(CourierError) -> MQTTChuckServer {
        try serve(port: port, limits: ServerLimits(), clientMetrics: clientMetrics, parkedMessages: parkedMessages)
    }

    func serve(
        port: UInt16, limits: ServerLimits, clientMetrics: @escaping @Sendable () -> [String: ClientMetrics] = { [:] },
        parkedMessages: @escaping @Sendable () -> [String: any ParkedMessages] = { [:] }
    ) throws(CourierError) -> MQTTChuckServer {
        let service = try InspectorService(
            self, port: port, limits, clientMetrics: clientMetrics, parkedMessages: parkedMessages)
        guard let url = URL(string: "http://127.0.0.1:\(service.port)/\(service.token)/") else {
            throw CourierError(.invalidConfiguration, "The inspector's page has no valid address.")
        }
        return MQTTChuckServer(service, url: url)
    }
}
