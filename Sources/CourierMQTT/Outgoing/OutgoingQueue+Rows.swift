import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// What the queue knows of the message store.
struct RowState {
    /// How many stored messages stay in memory while they wait, 8,192 by default. The bytes of later ones are on disk only.
    static let defaultMemoryCount = 8_192
    /// How many bytes of stored messages stay in memory while they wait, 8 MiB.
    static let memoryByteCount = 8 << 20
    /// How many messages one commit has at most.
    static let commitCount = 4_096
    /// From how many bytes on a commit takes no further message, 8 MiB.
    static let commitByteCount = 8 << 20

    let memoryCount: Int
    /// Messages that no commit has taken yet.
    private(set) var uncommitted = OutgoingRules.Amount()
    /// How many uncommitted messages the store waits for before it commits; see ``OutgoingQueue/gather(_:)``.
    var awaitedCount = 1
    /// Whether the store is going to look at the queue.
    var isScheduled = false
    /// Waiting messages whose bytes are in memory.
    private(set) var inMemory = OutgoingRules.Amount()
    private(set) var onDiskCount = 0
    /// Whether there may be rows of an earlier process that were not read.
    var hasUnreadRows = false

    init(memoryCount: Int) { self.memoryCount = memoryCount }

    var isGathering: Bool { awaitedCount > 1 && uncommitted.count < awaitedCount }

    /// A message is to be stored; whether the store must look at the queue.
    mutating func added(_ byteCount: Int) -> Bool {
        uncommitted = uncommitted + OutgoingRules.Amount(count: 1, byteCount: byteCount)
        guard !isScheduled, !isGathering else { return false }
        isScheduled = true
        return true
    }

    /// A commit takes a message.
    mutating func committing(_ byteCount: Int) {
        uncommitted = uncommitted - OutgoingRules.Amount(count: 1, byteCount: byteCount)
    }

    /// Whether a stored message stays in memory.
    var hasMemory: Bool {
        onDiskCount == 0 && inMemory.count < memoryCount && inMemory.byteCount < Self.memoryByteCount
    }

    /// Whether messages that are on disk only are read.
    var readsRows: Bool {
        (hasUnreadRows || onDiskCount > 0) && inMemory.count <= memoryCount / 2
            && inMemory.byteCount <= Self.memoryByteCount / 2
    }

    /// A message's bytes are in memory.
    mutating func entered(_ byteCount: Int) {
        inMemory = inMemory + OutgoingRules.Amount(count: 1, byteCount: byteCount)
    }

    /// The session took a message.
    mutating func left(_ byteCount: Int) { inMemory = inMemory - OutgoingRules.Amount(count: 1, byteCount: byteCount) }

    mutating func movedToDisk() { onDiskCount += 1 }

    mutating func movedFromDisk() { onDiskCount -= 1 }

    /// An entry ends.
    mutating func ended(_ entry: OutgoingEntry) {
        switch entry.state {
        case .storing where !entry.flags.contains(.isCommitting): committing(entry.byteCount)
        case .ready: left(entry.byteCount)
        case .onDisk: onDiskCount -= 1
        case .storing, .inFlight, .free: break
        }
    }

    /// The rows of a destroyed session are gone.
    mutating func endSession() {
        hasUnreadRows = false
        awaitedCount = 1
    }

    /// Whether an entry has to wait for rows of an earlier process, which come before it.
    func isBehindUnreadRows(_ slot: EntryTable.Slot, _ table: borrowing EntryTable) -> Bool {
        hasUnreadRows && table[.stored].firstDroppable == slot
    }
}

/// What ``OutgoingStore`` needs of the queue. On the event loop.
extension OutgoingQueue {
    /// The properties for the packet of a message; none if no broker can be told them.
    func packetProperties(_ properties: MessageProperties) -> PacketProperties {
        state.withLock { $0.carriesProperties } ? PacketProperties(publishing: properties) : []
    }

    /// Messages of one commit.
    struct CommitBatch: Sendable {
        var tokens: [Token] = []
        var messages: [StoredMessage] = []
        var byteCount = 0
        /// The session that the messages belong to.
        var epoch = 0
        /// How many callers wait until a message of the batch is stored.
        var acceptanceCount = 0
    }

    /// Takes the messages that no commit has taken; `nil` while more are awaited, or the session is about to end.
    ///
    /// - Parameter message: Makes the row of a message.
    /// - Returns: The messages, perhaps none.
    func takeUncommitted(_ message: (OutgoingRow, _ qos: QoS, _ isLatestOnly: Bool) -> StoredMessage) -> CommitBatch? {
        state.withLock { state in
            state.rows.isScheduled = false
            guard !state.isHeld, !state.rows.isGathering else { return nil }
            state.rows.awaitedCount = 1
            var batch = CommitBatch(epoch: state.epoch)
            // Uncommitted entries are the last of their lane.
            var slot = state.table[.stored].last
            for _ in 1..<max(state.rows.uncommitted.count, 1) { slot = state.table[slot].previous }
            if state.rows.uncommitted.count == 0 { slot = EntryTable.noSlot }
            while slot != EntryTable.noSlot, batch.tokens.count < RowState.commitCount,
                batch.byteCount < RowState.commitByteCount
            {
                guard let row = state.table[slot].row else { break }
                let stored = message(row, state.table[slot].qos, state.table[slot].flags.contains(.isLatestOnly))
                row.id = stored.id
                state.rows.committing(state.table[slot].byteCount)
                state.table[slot].flags.insert(.isCommitting)
                batch.tokens.append(state.table.token(of: slot))
                batch.messages.append(stored)
                batch.byteCount += state.table[slot].byteCount
                if case .acceptance = state.table[slot].recipient { batch.acceptanceCount += 1 }
                slot = state.table[slot].next
            }
            return batch
        }
    }

    /// Messages are stored, and may go out.
    ///
    /// - Returns: The tasks that waited for that, and whether the session must look at the queue.
    func stored(_ tokens: some Sequence<Token>) -> (tasks: [PublishContinuation], wakesSession: Bool) {
        state.withLock { state in
            var tasks: [PublishContinuation] = []
            for token in tokens {
                guard let slot = state.table.slot(of: token), let row = state.table[slot].row else { continue }
                state.table[slot].flags.remove(.isCommitting)
                if case .acceptance(let task) = state.table[slot].recipient {
                    tasks.append(task)
                    state.table[slot].recipient = .nobody
                }
                if state.rows.hasMemory {
                    state.keepRow(slot, row, payload: row.payload)
                } else {
                    state.table[slot].state = .onDisk
                    state.rows.movedToDisk()
                }
                row.payload = []
            }
            return (tasks, state.wakesLoop(.stored))
        }
    }

    /// Has the store wait for as many more messages as the callers whose messages were just stored may bring.
    ///
    /// - Returns: Whether it waits; ``stopGathering()`` follows then.
    func gather(_ count: Int) -> Bool {
        state.withLock { state in
            let awaited = state.rows.uncommitted.count + count
            guard 1...Self.gatheringLimit ~= count, 2...Self.gatheringLimit ~= awaited, !state.isHeld,
                state.rules.waiting.count + count <= state.rules.policy.maximumCount
            else { return false }
            (state.rows.awaitedCount, state.rows.isScheduled) = (awaited, false)
            return true
        }
    }

    /// With more callers than this, 128, the store does not wait for their next messages.
    static let gatheringLimit = 128

    /// Waits for no more messages; whether the store must look at the queue.
    func stopGathering() -> Bool {
        state.withLock { state in
            guard state.rows.awaitedCount > 1 else { return false }
            state.rows.awaitedCount = 1
            guard !state.rows.isScheduled, state.rows.uncommitted.count > 0 else { return false }
            state.rows.isScheduled = true
            return true
        }
    }

    // MARK: Packet ids

    /// The session gave a message a packet id; returns the message's row.
    func noteSent(_ token: Token, _ id: PacketID) -> (id: StoredMessage.ID, qos: QoS)? {
        state.withLock { state in
            guard let slot = state.table.slot(of: token), let row = state.table[slot].row, let rowID = row.id else {
                return nil
            }
            row.packetID = id
            return (rowID, state.table[slot].qos)
        }
    }

    /// The row and the packet id of a message that was sent.
    func sentRow(_ token: Token) -> (id: StoredMessage.ID, packetID: PacketID)? {
        state.withLock { state in
            guard let row = state.table.slot(of: token).flatMap({ state.table[$0].row }), let id = row.id,
                let packetID = row.packetID
            else { return nil }
            return (id, packetID)
        }
    }

    /// The rows that have a packet id; forgets these ids if `isForgotten`.
    func rowsWithPacketID(isForgotten: Bool) -> [StoredMessage.ID] {
        state.withLock { state in
            var rows: [StoredMessage.ID] = []
            var slot = state.table[.stored].first
            while slot != EntryTable.noSlot {
                if let row = state.table[slot].row, row.packetID != nil, let id = row.id {
                    rows.append(id)
                    if isForgotten { row.packetID = nil }
                }
                slot = state.table[slot].next
            }
            return rows
        }
    }

    // MARK: Rows of the store

    /// A row that becomes an entry, or fills an entry.
    struct LoadedRow {
        let message: StoredMessage
        /// When the message expires; `nil` is never.
        let end: Instant?
        /// When the message's own expiry is over.
        let expiry: Instant?
        let isLatestOnly: Bool
        let isObserved: Bool
    }

    /// Makes the entry of a message that an earlier process sent, and returns the entry's name.
    func restore(_ row: LoadedRow, packetID: PacketID) -> Token {
        state.withLock { state in
            let before = state.table[.stored].firstDroppable
            let slot = state.table.insertEarlier(.inFlight, before: before)
            let entry = state.fill(slot, row)
            entry.packetID = packetID
            state.table[slot].end = row.end.map { Moment($0) }
            state.keepRow(slot, entry, payload: row.message.payload)
            state.table[slot].state = .inFlight
            state.rows.left(state.table[slot].byteCount)
            return state.table.token(of: slot)
        }
    }

    /// Rows of an earlier process wait in the store.
    func beginReading(unreadCount: Int) {
        state.withLock { state in
            state.rows.hasUnreadRows = unreadCount > 0
            state.rules.setUnread(unreadCount)
        }
    }

    /// The first row that is on disk only, if rows are to be read now.
    enum Reading {
        /// Rows of an earlier process come first.
        case unreadRows
        case from(StoredMessage.ID)
    }

    var nextReading: Reading? {
        state.withLock { state in
            guard !state.isHeld, state.rows.readsRows else { return nil }
            if state.rows.hasUnreadRows { return .unreadRows }
            var slot = state.table[.stored].next
            while slot != EntryTable.noSlot, state.table[slot].state != .onDisk { slot = state.table[slot].next }
            guard slot != EntryTable.noSlot else { return nil }
            return state.table[slot].row?.id.map { .from($0) }
        }
    }

    /// Adds a row of an earlier process behind those that were read before, if memory has room.
    ///
    /// - Returns: The entry's name, `nil` when memory is full; and the message that the row replaces, or the row's own end.
    func addEarlier(_ row: LoadedRow) -> (token: Token?, ended: EndedPublish?) {
        state.withLock { state in
            guard state.rows.inMemory.count < state.rows.memoryCount,
                state.rows.inMemory.byteCount < RowState.memoryByteCount
            else { return (nil, nil) }
            let slot = state.table.insertEarlier(.ready, before: state.table[.stored].firstDroppable)
            let entry = state.fill(slot, row)
            state.table[slot].end = row.end.map { Moment($0) }
            state.keepRow(slot, entry, payload: row.message.payload)
            state.table[slot].flags.insert(.isCounted)
            state.rules.setUnread(state.rules.unreadCount - 1)
            state.rules.count(state.table[slot].byteCount, isDroppable: false)
            if let end = state.table[slot].end { _ = state.note(end) }
            let token = state.table.token(of: slot)
            guard row.isLatestOnly else { return (token, nil) }
            let key = Array(row.message.topic.utf8)
            // Messages of this process are newer, earlier rows are older.
            if let other = state.latest[key], state.table[other].order > state.table[slot].order {
                return (token, state.end(slot, .replaced))
            }
            let older = state.latest.updateValue(slot, forKey: key)
            return (token, older.map { state.end($0, .replaced) })
        }
    }

    /// All rows of an earlier process were read; whether the session must look at the queue.
    func endEarlierRows() -> Bool {
        state.withLock { state in
            state.rows.hasUnreadRows = false
            state.rules.setUnread(0)
            return state.wakesLoop(.stored)
        }
    }

    /// Fills entries that are on disk only from a page of rows, in order.
    ///
    /// - Parameters:
    ///   - rows: The page.
    ///   - isLast: Whether the store has no rows behind it.
    /// - Returns: Entries without a row, which end, and whether the session must look at the queue.
    func fill(from rows: [StoredMessage], isLast: Bool) -> (missing: [EndedPublish], wakesSession: Bool) {
        state.withLock { state in
            var missing: [EndedPublish] = []
            var index = 0
            var slot = state.table[.stored].next
            while slot != EntryTable.noSlot, state.rows.onDiskCount > 0 {
                let next = state.table[slot].next
                defer { slot = next }
                guard state.table[slot].state == .onDisk, let entry = state.table[slot].row, let id = entry.id else {
                    continue
                }
                guard state.rows.inMemory.byteCount < RowState.memoryByteCount else { break }
                while index < rows.count, rows[index].id < id { index += 1 }
                guard index < rows.count else {
                    guard isLast else { break }
                    missing.append(state.end(slot, .failed(Self.missingRow)))
                    continue
                }
                guard rows[index].id == id else {
                    missing.append(state.end(slot, .failed(Self.missingRow)))
                    continue
                }
                state.rows.movedFromDisk()
                state.keepRow(slot, entry, payload: rows[index].payload)
            }
            return (missing, state.wakesLoop(.stored))
        }
    }

    private static let missingRow = CourierError(
        .storeDamaged,
        "The message was stored, but the message store does not have it any more. Publish it again if it may arrive twice, "
            + "and let no other program change the store.")
}

extension OutgoingQueue.State {
    /// Gives an entry what its row says.
    fileprivate mutating func fill(_ slot: EntryTable.Slot, _ row: OutgoingQueue.LoadedRow) -> OutgoingRow {
        let entry = OutgoingRow(
            topic: row.message.topic, isRetained: row.message.isRetained, properties: row.message.properties,
            payload: row.message.payload, acceptedAt: .now, expiry: row.expiry, id: row.message.id)
        entry.payload = []
        table[slot].row = entry
        table[slot].qos = row.message.qos
        table[slot].flags = []
        if row.isObserved { table[slot].flags.insert(.isObserved) }
        if row.isLatestOnly { table[slot].flags.insert(.isLatestOnly) }
        return entry
    }

    /// Copies a stored message's bytes into memory: the message is ready.
    fileprivate mutating func keepRow(_ slot: EntryTable.Slot, _ row: OutgoingRow, payload: [UInt8]) {
        try? encode(row.properties)  // They were encoded before, or checked when the row was read.
        var header = OutgoingHeader(
            PacketQoS(table[slot].qos), isRetained: row.isRetained, isRetried: true, token: table.token(of: slot))
        if let expiry = row.expiry { header.expiry = expiry }
        // The session may take a message of QoS 2 before it may send the message: the packet id is stored first.
        if let end = table[slot].end { header.firstSendEnd = end }
        scratch.withBytes {
            table.keepBytes(
                of: slot, header, topic: row.topic.utf8Span.span.bytes, encodedProperties: $0,
                payload: payload.span.bytes)
        }
        table[slot].byteCount = row.topic.utf8.count + payload.count + scratch.count
        scratch.removeAll()
        table[slot].state = .ready
        rows.entered(table[slot].byteCount)
    }
}
