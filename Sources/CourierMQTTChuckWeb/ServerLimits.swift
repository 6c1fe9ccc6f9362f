/// The limits for clients of the inspector's server.
struct ServerLimits: Sendable {
    /// The maximum number of open connections. Further connections wait in the queue of the operating system.
    var connections: UInt32 = 256

    /// The seconds after which a connection without progress is closed.
    var idleTimeout: UInt32 = 15

    /// The maximum memory in bytes for one connection: the head of its request, and data that is being sent.
    var connectionMemory = 32 * 1024

    /// The maximum number of connections that wait for events. Each visible page uses one connection.
    var eventStreams = 32

    /// The maximum number of exports at the same time. Each export has its own thread.
    var exports = 2

    /// The number of bytes of an export, produced and not yet sent, at which the export pauses.
    var exportAhead = 256 * 1024

    /// The maximum number of rows in one response.
    var rows = 500

    /// The maximum number of rows that are checked for one response. A response must not take long, because one thread
    /// serves all requests except exports.
    var scannedRows = 20_000

    /// The maximum size of a query in bytes.
    var query = 1_000

    /// The maximum number of bytes to show of a packet or payload, and of Unicode scalars to show of a parser's text.
    /// The download contains all bytes.
    var shownBytes = 16 * 1024

    /// The maximum number of Unicode scalars to show of one packet field.
    var shownCharacters = 4_096

    /// The maximum number of fields to show of a packet, and of packets to show of an exchange.
    var shownParts = 200

    /// The maximum number of connections to list. If there are more, the latest connections are listed.
    var listedConnections = 1_000

    /// The maximum size of a request's body in bytes. The page sends no requests with a body.
    var requestBody = 1_024
}
