import CourierCore

/// The connections a recorder knows, each in a slot of its own while rows refer to it or packets may come.
struct ConnectionBook {
    /// Clients by something that names them.
    private struct Clients<Name: Hashable> {
        /// How many connections each had, and the id of the latest.
        private var known: [Name: (connectionCount: Int, latest: UInt64)] = [:]

        /// Notes the next connection of a client; says which it is, counted from 1, and the id of the one before it.
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
    /// By the id that observers of this process see.
    private var liveSlots: [UInt64: Int] = [:]
    /// By what a file says of the connection, because two files may use one id for two connections.
    private var restoredSlots: [MQTTChuckConnection: Int] = [:]
    /// By the number that a client has in this process, wherever it connects to.
    private var numberedClients = Clients<UInt64>()
    /// By broker and client id.
    private var namedClients = Clients<String>()
    /// Which connection a broker accepted last with a client id: with the next one it ends that ([MQTT-3.1.4-3]).
    private var holders: [String: Int] = [:]
    private var shownIDs: Set<UInt64> = []
    private var spareID: UInt64 = 1 << 48
    /// The connection that was asked for last, which usually is asked for again.
    private var latest: (id: UInt64, slot: Int)?
    private var sweepAt = 64
    /// What all connections add to the gauges.
    private(set) var load = ConnectionLoad()

    // MARK: Finding

    /// The slot of a connection, a new one for one that is new.
    mutating func slot(for connection: ObservedConnection) -> Int {
        if let latest, latest.id == connection.id { return latest.slot }
        let slot = liveSlots[connection.id] ?? add(connection)
        latest = (connection.id, slot)
        return slot
    }

    /// The slot of a connection that a file describes.
    mutating func slot(restoring connection: MQTTChuckConnection) -> Int {
        if let slot = restoredSlots[connection] { return slot }
        let shown = renumbered(connection)
        let slot = insert(ConnectionTrack(shown, openedInstant: .now, isRestored: true))
        restoredSlots[connection] = slot
        return slot
    }

    private mutating func add(_ connection: ObservedConnection) -> Int {
        let numbered = connection.clientNumber.map { numberedClients.add(connection.id, of: $0) }
        // An empty client id names nobody: the broker makes one up for each connection (3.1.3.1).
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

    /// The same with another id where the id is taken, as it may be between a file and this process.
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

    /// Takes in that what the connection of a slot adds to the gauges has changed from `old`.
    @inline(__always)
    mutating func loadChanged(of slot: Int, from old: ConnectionLoad) { load.change(from: old, to: tracks[slot].load) }

    /// Takes in that the broker has accepted the connection of a slot, so that it has ended the one that had the client id.
    mutating func accepted(_ slot: Int) {
        tracks[slot].wasAccepted = false
        let connection = tracks[slot].connection
        // An empty client id names nobody, and what a file describes is over.
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

    // MARK: Forgetting

    /// Forgets connections that have ended and have no rows; all without rows when there are too many.
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

    // MARK: Looking

    /// How the connections in some of the slots stand.
    func statuses(in slots: Range<Int>) -> [MQTTChuckConnectionStatus] {
        var statuses: [MQTTChuckConnectionStatus] = []
        for slot in slots.clamped(to: tracks.indices) where !tracks[slot].isForgotten {
            statuses.append(tracks[slot].status)
        }
        return statuses
    }
}
