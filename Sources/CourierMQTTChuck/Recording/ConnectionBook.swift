import CourierCore

/// The connections that a recorder knows. As long as rows refer to a connection or its packets may follow, it has a
/// slot. A slot is an index into `tracks`.
struct ConnectionBook {
    /// The clients, by a value that identifies each client.
    private struct Clients<Name: Hashable> {
        /// The number of connections of each client, and the id of the latest connection.
        private var known: [Name: (connectionCount: Int, latest: UInt64)] = [:]

        /// Adds a connection of a client. Returns its ordinal number, counted from 1, and the id of the client's
        /// previous connection.
        mutating func add(_ connection: UInt64, of name: Name) -> (ordinal: Int, earlier: UInt64?) {
            if known[name] == nil, known.count >= Recorder.rememberedLimit { known.removeAll() }
            let client = known[name]
            let ordinal = (client?.connectionCount ?? 0) + 1
            known[name] = (ordinal, connection)
            return (ordinal, client?.latest)
        }
    }

    private(set) var freeSlots: [Int] = []
    var tracks: [ConnectionTrack] = []
    /// The slots of this process's connections, by the connection id that packet observers receive.
    private var liveSlots: [UInt64: Int] = [:]
    /// The slots of connections from files, by the description of the connection. The id of a connection does not
    /// identify it, because two files may use one id for two connections.
    private var restoredSlots: [MQTTChuckConnection: Int] = [:]
    /// The clients of this process by their client number, which does not depend on the broker.
    private var numberedClients = Clients<UInt64>()
    /// The clients that have a client id, by broker and client id.
    private var namedClients = Clients<String>()
    /// The slot of the connection that a broker accepted last, by broker and client id. If the broker accepts another
    /// connection with the same client id, it closes the earlier connection ([MQTT-3.1.4-3]).
    private var holders: [String: Int] = [:]
    private var shownIDs: Set<UInt64> = []
    private var spareID: UInt64 = 1 << 48
    /// The id and the slot of the connection that was looked up last, because the next look-up is usually for the same
    /// connection.
    private var latest: (id: UInt64, slot: Int)?
    private var sweepAt = 64
    /// The number of open connections, and the number of their open exchanges.
    private(set) var load = ConnectionLoad()

    // MARK: Finding connections

    /// Returns the slot of a connection. A new connection gets a new slot.
    mutating func slot(for connection: ObservedConnection) -> Int {
        if let latest, latest.id == connection.id { return latest.slot }
        let slot = liveSlots[connection.id] ?? add(connection)
        latest = (connection.id, slot)
        return slot
    }

    /// Returns the slot of a connection from a file.
    mutating func slot(restoring connection: MQTTChuckConnection) -> Int {
        if let slot = restoredSlots[connection] { return slot }
        let shown = renumbered(connection)
        let slot = insert(ConnectionTrack(shown, openedInstant: .now, isRestored: true))
        restoredSlots[connection] = slot
        return slot
    }

    private mutating func add(_ connection: ObservedConnection) -> Int {
        let numbered = connection.clientNumber.map { numberedClients.add(connection.id, of: $0) }
        // An empty client id does not identify a client, because the broker assigns a new client id to each such
        // connection (3.1.3.1).
        let named =
            connection.options.clientId.isEmpty
            ? nil : namedClients.add(connection.id, of: MQTTChuckConnection(connection, ordinal: 0).clientKey)
        if let earlier = (numbered ?? named)?.earlier, let slot = liveSlots[earlier] { supersede(slot) }
        let ordinal = (numbered ?? named)?.ordinal ?? 1
        let shown = renumbered(MQTTChuckConnection(connection, ordinal: ordinal))
        let slot = insert(ConnectionTrack(shown, openedInstant: connection.openedInstant))
        liveSlots[connection.id] = slot
        return slot
    }

    /// Returns the connection unchanged, or with a new id if a known connection has the same id. This is necessary,
    /// because a connection from a file may have the same id as a connection of this process.
    private mutating func renumbered(_ connection: MQTTChuckConnection) -> MQTTChuckConnection {
        if shownIDs.insert(connection.id).inserted { return connection }
        while !shownIDs.insert(spareID).inserted { spareID &+= 1 }
        return connection.withID(spareID)
    }

    private mutating func insert(_ track: ConnectionTrack) -> Int {
        if tracks.count - freeSlots.count >= sweepAt { sweep() }
        if let slot = freeSlots.popLast() {
            tracks[slot] = track
            return slot
        }
        tracks.append(track)
        return tracks.count - 1
    }

    /// Updates `load`, the sum over all connections, after the connection in a slot has changed. `old` is the load of
    /// this connection before the change.
    @inline(__always)
    mutating func loadChanged(of slot: Int, from old: ConnectionLoad) { load.change(from: old, to: tracks[slot].load) }

    /// Records that the broker accepted the connection in a slot. The broker has then ended the earlier connection with
    /// the same client id.
    mutating func accepted(_ slot: Int) {
        tracks[slot].wasAccepted = false
        let connection = tracks[slot].connection
        // An empty client id does not identify a client, and a connection from a file has already ended. So in both
        // cases, the connection does not replace an earlier connection.
        guard !connection.clientID.isEmpty, !tracks[slot].isRestored else { return }
        guard let earlier = holders.updateValue(slot, forKey: connection.clientKey), earlier != slot,
            tracks[earlier].state.isLive
        else { return }
        supersede(earlier)
    }

    private mutating func supersede(_ slot: Int) {
        let old = tracks[slot].load
        tracks[slot].supersede()
        loadChanged(of: slot, from: old)
    }

    // MARK: Forgetting connections

    /// Forgets connections that have ended and have no rows. If `Recorder.rememberedLimit` is reached, also forgets
    /// open connections without rows.
    private mutating func sweep() {
        var used = Set(liveSlots.values).union(restoredSlots.values)
        let isCrowded = used.count >= Recorder.rememberedLimit
        func isOver(_ slot: Int) -> Bool {
            tracks[slot].slabCount == 0 && (isCrowded || !tracks[slot].state.isLive)
        }
        let gone = used.filter(isOver)
        for slot in gone {
            shownIDs.remove(tracks[slot].connection.id)
            used.remove(slot)
            freeSlots.append(slot)
            supersede(slot)
            tracks[slot].isForgotten = true
        }
        liveSlots = liveSlots.filter { !gone.contains($0.value) }
        restoredSlots = restoredSlots.filter { !gone.contains($0.value) }
        holders = holders.filter { !gone.contains($0.value) }
        latest = nil
        sweepAt = max(64, used.count * 2)
    }

    // MARK: Reading states

    /// Returns the states of the connections in these slots. Slots of forgotten connections are skipped.
    func statuses(in slots: Range<Int>) -> [MQTTChuckConnectionStatus] {
        var statuses: [MQTTChuckConnectionStatus] = []
        for slot in slots.clamped(to: tracks.indices) where !tracks[slot].isForgotten {
            statuses.append(tracks[slot].status)
        }
        return statuses
    }
}
