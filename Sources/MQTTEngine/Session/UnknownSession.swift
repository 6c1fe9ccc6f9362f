import MQTTCodec

/// What is asked about a session that the server has kept and this engine has not begun.
///
/// An earlier process may have left QoS 2 exchanges in it. A server that holds their packet ids takes a new message under
/// one of them for a repetition, and swallows it. So a PUBREL goes before the first PUBLISH of QoS 2 under each id: it
/// ends what was left, and its PUBCOMP says that the id is free.
final class UnknownSession {
    /// On how many connections in a row a server may leave the questions unanswered: one that knows no QoS 2 may end the
    /// connection instead, and is not asked any more. A server that has answered once is asked always.
    static let patience: UInt8 = 4

    private var cleared: Set<PacketID> = []
    /// The last exchange that waits for its id; those behind it wait as well, so that none overtakes it ([MQTT-4.6.0-1]).
    private var last: PacketID?
    private var hasAsked = false
    private var hasAnswered = false
    private var silentConnections: UInt8 = 0

    /// Begins to ask; `last` is the last exchange that waits for its id, from an earlier connection.
    init(_ last: PacketID?) { self.last = last }

    /// Whether `id` has to be cleared before the next message goes under it.
    func mustClear(_ id: PacketID) -> Bool { last != nil || !cleared.contains(id) }

    /// An exchange waits until its `id` is cleared.
    func waits(_ id: PacketID) { last = id }

    /// A PUBREL was written.
    func asked() { hasAsked = true }

    /// PUBCOMP came.
    func answered(_ id: PacketID) {
        hasAnswered = true
        cleared.insert(id)
        if last == id { last = nil }
    }

    /// The connection has ended; `last` is the last exchange that continues to wait. Says whether to ask on the next one.
    func connectionLost(_ last: PacketID?) -> Bool {
        self.last = last
        if hasAsked, silentConnections < Self.patience { silentConnections += 1 }
        hasAsked = false
        return hasAnswered || silentConnections < Self.patience
    }
}
