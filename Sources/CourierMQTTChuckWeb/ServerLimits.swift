/// What clients of the page's server may take from this process.
struct ServerLimits: Sendable {
    /// How many connections are open at once; further ones wait in the system's queue.
    var connections: UInt32 = 256

    /// How long a connection may go without progress.
    var idleTimeout: UInt32 = 15

    /// Bytes that a connection may take for the head of its request and for what is on its way.
    var connectionMemory = 32 * 1024

    /// How many connections may wait for events; a page in sight takes one.
    var eventStreams = 32

    /// How many exports may be under way; each has a thread.
    var exports = 2

    /// Bytes of an export that are made ahead of its reader.
    var exportAhead = 256 * 1024

    /// The most rows in one answer.
    var rows = 500

    /// The most rows that are looked at for one answer, because the server has one thread for all that is not an export.
    var scannedRows = 20_000

    /// Bytes of a query.
    var query = 1_000

    /// Bytes of a payload or packet that are shown, and Unicode scalars of what a parser makes of one; more is for the
    /// download.
    var shownBytes = 16 * 1024

    /// Unicode scalars of one field of a packet that are shown.
    var shownCharacters = 4_096

    /// The most fields of a packet, and the most packets of an exchange, that are shown.
    var shownParts = 200

    /// The most connections that are listed; the latest are.
    var listedConnections = 1_000

    /// Bytes that a request may send; nothing here needs any.
    var requestBody = 1_024
}
