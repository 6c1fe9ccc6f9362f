/// The limits for clients of the inspector's server.
struct ServerLimits: Sendable {
    /// The most open connections. Further connections wait in the queue of the operating system.
    var connections: UInt32 = 256

    /// The seconds after which a connection without progress is closed.
    var idleTimeout: UInt32 = 15

    /// The most bytes of memory for one connection: the head of its request, and data that is being sent.
    var connectionMemory = 32 * 1024

    /// The most connections that wait for events. Each visible page uses one.
    var eventStreams = 32

    /// The most exports at the same time. Each export has its own thread.
    var exports = 2

    /// The most bytes of an export that are produced before the client reads them.
    var exportAhead = 256 * 1024

    /// The most rows in one response.
    var rows = 500

    /// The most rows that are checked for one response. One thread serves all requests except exports, so a response
    /// must not take long.
    var scannedRows = 20_000

    /// The most bytes of a query.
    var query = 1_000

    /// The most bytes of a packet or payload to show, and the most Unicode scalars of a parser's text. The download has
    /// all bytes.
    var shownBytes = 16 * 1024

    /// The most Unicode scalars to show of one packet field.
    var shownCharacters = 4_096

    /// The most fields of a packet, and the most packets of an exchange, to show.
    var shownParts = 200

    /// The most connections to list. If there are more, the latest ones are listed.
    var listedConnections = 1_000

    /// The most bytes in the body of a request. No request of the page needs a body.
    var requestBody = 1_024
}
