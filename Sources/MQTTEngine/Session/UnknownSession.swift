import MQTTCodec

/// Frees packet ids in a session that the server has kept and that this engine did not start.
///
/// An earlier process may have left QoS 2 exchanges in the session. If a packet id is still in use at the server, the
/// server treats a new message with that id as a repetition and drops it. So before the first QoS 2 PUBLISH with an id,
/// the engine sends PUBREL with this id. PUBREL ends the old exchange, and PUBCOMP confirms that the id is free.
final class UnknownSession {
    /// The number of connections without any PUBCOMP after which the engine sends no more PUBREL packets to free ids.
    ///
    /// A server without QoS 2 may close the connection instead of sending PUBCOMP. If the server has sent PUBCOMP at
    /// least once, the engine never stops.
    static let patience: UInt8 = 4

    private var cleared: Set<PacketID> = []
    /// The packet id of the last QoS 2 message that waits for its id to be freed. Later messages also wait, so that no
    /// later message is sent before this message ([MQTT-4.6.0-1]).
    private var last: PacketID?
    private var hasAsked = false
    private var hasAnswered = false
    private var silentConnections: UInt8 = 0

    /// Creates the state without freed ids. If a message of an earlier connection waits for its id to be freed, `last`
    /// is the id of the last such message.
    init(_ last: PacketID?) { self.last = last }

    /// Returns true if the next message with `id` must wait, because the id is not freed or an earlier message waits.
    func mustClear(_ id: PacketID) -> Bool { last != nil || !cleared.contains(id) }

    /// Records that a message waits until PUBREL has freed its packet id.
    func waits(_ id: PacketID) { last = id }

    /// Records that PUBREL was written to free an id.
    func asked() { hasAsked = true }

    /// Records that PUBCOMP confirmed that `id` is free.
    func answered(_ id: PacketID) {
        hasAnswered = true
        cleared.insert(id)
        if last == id { last = nil }
    }

    /// Records that the connection ended. `last` is the id of the last message that still waits. Returns true if the
    /// engine continues to free ids on the next connection.
    func connectionLost(_ last: PacketID?) -> Bool {
        self.last = last
        if hasAsked, silentConnections < Self.patience { silentConnections += 1 }
        hasAsked = false
        return hasAnswered || silentConnections < Self.patience
    }
}
