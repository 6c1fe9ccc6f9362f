public import CourierCore
public import CourierMQTTChuck
public import Foundation

/// The web page of a logger, for browsers on this machine.
///
/// ```swift
/// let server = try logger.serve()
/// print(server.url)  // http://127.0.0.1:40123/7xQ…/
/// ```
///
/// It listens on 127.0.0.1 only, and answers only to who knows the random token in ``url``: whoever has the address
/// can see what the logger keeps, so print it where only people may look who may see that. It refuses requests under
/// another host name, from pages of other origins, and from programs without the token. The page needs nothing from
/// outside.
///
/// It has one thread of its own, a second for each export, and a bounded number of connections; none of them can hold
/// up the logger or the clients that it is attached to.
public final class MQTTChuckServer: Sendable {
    /// The address of the page, with the token.
    public let url: URL

    /// The port it listens on.
    public let port: UInt16

    private let service: InspectorService

    init(_ service: InspectorService, url: URL) {
        self.service = service
        self.url = url
        port = service.port
    }

    deinit {
        // Elsewhere: the last reference may continue a thread that must not wait, even the server's own.
        DispatchQueue.global().async { [service] in service.stop() }
    }

    /// Ends all connections and frees the port.
    ///
    /// It returns when the server's thread has ended, which takes some milliseconds, or as long as a payload parser of
    /// the app takes that is at work; a parser must not call it. A second call does nothing. Letting go of the last
    /// reference has the same effect, a moment later.
    public func stop() { service.stop() }
}

extension MQTTChuckLogger {
    /// Serves this logger's page until the server that is returned is stopped or released.
    ///
    /// Any thread may call it; it returns at once. A logger may have several servers.
    ///
    /// - Parameter port: The port of 127.0.0.1 to listen on; 0, the default, takes a free one.
    /// - Returns: The server, with the address to open.
    /// - Throws: ``CourierCore/CourierError`` with code `invalidConfiguration` when the port is taken.
    public func serve(port: UInt16 = 0) throws(CourierError) -> MQTTChuckServer {
        try serve(port: port, limits: ServerLimits())
    }

    func serve(port: UInt16, limits: ServerLimits) throws(CourierError) -> MQTTChuckServer {
        let service = try InspectorService(self, port: port, limits)
        guard let url = URL(string: "http://127.0.0.1:\(service.port)/\(service.token)/") else {
            throw CourierError(.invalidConfiguration, "The address of the inspector's page could not be made.")
        }
        return MQTTChuckServer(service, url: url)
    }
}
