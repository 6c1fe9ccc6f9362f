import MQTTCodec

/// Frees packet ids in a session that the server has kept and this engine has not started.
///
/// An earlier process may have left QoS 2 exchanges in the session. If the server still holds a packet id, it treats a
/// new message under that id as a repetition and drops it. So PUBREL is sent under each id before its first QoS 2
/// PUBLISH. PUBREL ends the old exchange, and PUBCOMP confirms that the id is free.
final class UnknownSession {
    /// The number of connections without any PUBCOMP after which the engine sends no more PUBREL packets to free ids.
    ///
    /// A server without QoS 2 may close the connection instead of sending PUBCOMP. If the server has sent PUBCOMP at
    /// least once, the engine never stops.
    static let patience: UInt8 = 4

    private var cleared: Set<PacketID> = []
    /// The last exchange that waits for its id. Later exchanges also wait, so that no later message is sent before this
    /// exchange's message ([MQTT-4.6.0-1]).
    private var last: PacketID?
    private var hasAsked = false
    private var hasAnswered = false
    private var silentConnections: UInt8 = 0

    /// Starts with no freed ids. `last` is the last exchange of an earlier connection that waits for its id.
    init(_ last: PacketID?) { self.last = last }

    /// Returns true if the next message with `id` must wait, because the id is not freed or an earlier message waits.
    func mustClear(_ id: PacketID) -> Bool { last != nil || !cleared.contains(id) }

    /// Records that an exchange waits until PUBREL has freed its `id`.
    func waits(_ id: PacketID) { last = id }

    /// Records that a PUBREL that frees an id was written.
    func asked() { hasAsked = true }

    /// Records that PUBCOMP confirmed that `id` is free.
    func answered(_ id: PacketID) {
        hasAnswered = true
        cleared.insert(id)
        if last == id { last = nil }
    }

    /// Records that the connection ended. `last` is the last exchange that still waits. Returns true if the engine also
    /// frees ids on the next connection.
    func connectionLost(_ last: PacketID?) -> Bool {
        self.last = last
        if hasAsked, silentConnections < Self.patience { silentConnections += 1 }
        hasAsked = false
        return hasAnswered || silentConnections < Self.patience
    }
}
