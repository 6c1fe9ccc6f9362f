import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// The queue's counters of the message store.
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

    /// Counts a message that must be stored; returns whether the store must be woken.
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
    mutating func ended(_ state: OutgoingEntry.State, isCommitting: Bool, _ byteCount: Int) {
        switch state {
        case .storing where !isCommitting: committing(byteCount)
        case .ready: left(byteCount)
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
    func isBehindUnreadRows(_ entry: borrowing OutgoingEntry) -> Bool {
        hasUnreadRows && entry.flags.contains(.isDroppable)
    }
}

/// The functions for ``OutgoingStore``. On the event loop.
extension OutgoingQueue {
    /// The properties for the packet of a message; none before MQTT 5.
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
            while batch.tokens.count < RowState.commitCount, batch.byteCount < RowState.commitByteCount,
                let slot = state.table.firstUncommitted(), let row = state.table[slot].row
            {
                let stored = message(row, state.table[slot].qos, state.table[slot].flags.contains(.isLatestOnly))
                row.id = stored.id
                state.rows.committing(state.table[slot].byteCount)
                state.table[slot].flags.insert(.isCommitting)
                batch.tokens.append(state.table.token(of: slot))
                batch.messages.append(stored)
                batch.byteCount += state.table[slot].byteCount
                if case .acceptance = state.table[slot].recipient { batch.acceptanceCount += 1 }
            }
            return batch
        }
    }

    /// Messages are stored, and may go out.
    ///
    /// - Returns: The tasks that waited for that, and whether the session must look at the queue.
    func stored(
        _ tokens: some Sequence<Token>
    ) -> (tasks: [(task: PublishContinuation, token: Token)], wakesSession: Bool) {
        state.withLock { state in
            var tasks: [(task: PublishContinuation, token: Token)] = []
            for token in tokens {
                guard let slot = state.table.slot(of: token), let row = state.table[slot].row else { continue }
                state.table[slot].flags.remove(.isCommitting)
                if case .acceptance(let task) = state.table[slot].recipient {
                    tasks.append((task, token))
                    state.table[slot].recipient = .nobody
                }
                if state.rows.hasMemory {
                    state.keepRow(slot, payload: row.payload)
                    state.table[slot].state = .ready
                    state.rows.entered(state.table[slot].byteCount)
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
            var slot = state.table.first
            while let one = slot {
                if let row = state.table[one].row, row.packetID != nil, let id = row.id {
                    rows.append(id)
                    if isForgotten { row.packetID = nil }
                }
                slot = state.table.next(after: one)
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
            let slot = state.append(row, .inFlight, [])
            state.table[slot].row?.packetID = packetID
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

    /// The next row to read from the store.
    enum Reading {
        /// Rows of an earlier process come first.
        case unreadRows
        case from(StoredMessage.ID)
    }

    var nextReading: Reading? {
        state.withLock { state in
            guard !state.isHeld, state.rows.readsRows else { return nil }
            if state.rows.hasUnreadRows { return .unreadRows }
            var slot = state.table.firstWaiting(in: .stored)
            while let one = slot, state.table[one].state != .onDisk { slot = state.table.next(after: one) }
            return slot.flatMap { state.table[$0].row?.id }.map { .from($0) }
        }
    }

    /// Adds a row of an earlier process behind the rows that were read before, if memory has room.
    ///
    /// - Returns: The entry's name, `nil` when memory is full; and the message that the row replaces, or the row's own end.
    func addEarlier(_ row: LoadedRow) -> (token: Token?, ended: EndedPublish?) {
        state.withLock { state in
            guard state.rows.inMemory.count < state.rows.memoryCount,
                state.rows.inMemory.byteCount < RowState.memoryByteCount
            else { return (nil, nil) }
            let slot = state.append(row, .ready, .isCounted)
            state.rows.entered(state.table[slot].byteCount)
            state.rules.setUnread(state.rules.unreadCount - 1)
            state.rules.count(state.table[slot].byteCount, isDroppable: false)
            _ = state.note(state.table[slot].end)
            let token = state.table.token(of: slot)
            guard row.isLatestOnly else { return (token, nil) }
            let key = Array(row.message.topic.utf8)
            let other = state.latest[key].flatMap { state.table.slot(of: $0) }
            // Messages of this process are newer, earlier rows are older.
            if let other, other > slot { return (token, state.end(slot, .replaced)) }
            state.latest[key] = token
            return (token, other.map { state.end($0, .replaced) })
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
            var next = state.table.firstWaiting(in: .stored)
            while let slot = next, state.rows.onDiskCount > 0 {
                next = state.table.next(after: slot)
                guard state.table[slot].state == .onDisk, let id = state.table[slot].row?.id else { continue }
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
                state.keepRow(slot, payload: rows[index].payload)
                state.table[slot].state = .ready
                state.rows.entered(state.table[slot].byteCount)
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
    /// Adds the entry of a row of an earlier process, with the message's bytes.
    fileprivate mutating func append(
        _ row: OutgoingQueue.LoadedRow, _ state: OutgoingEntry.State, _ flags: OutgoingEntry.Flags
    ) -> EntryTable.Slot {
        var flags = flags
        if row.isObserved { flags.insert(.isObserved) }
        if row.isLatestOnly { flags.insert(.isLatestOnly) }
        let message = row.message
        let slot = table.appendEarlier(
            state, message.qos, byteCount: 0, flags, end: row.end.map { MonotonicInstant($0) } ?? .never)
        let rowOfEntry = OutgoingRow(
            topic: message.topic, isRetained: message.isRetained, properties: message.properties,
            payload: message.payload, acceptedAt: .never, expiry: row.expiry.map { MonotonicInstant($0) } ?? .never,
            id: message.id)
        rowOfEntry.payload = []
        table[slot].row = rowOfEntry
        keepRow(slot, payload: message.payload)
        return slot
    }

    /// Copies a stored message's bytes into memory.
    fileprivate mutating func keepRow(_ slot: EntryTable.Slot, payload: [UInt8]) {
        guard let row = table[slot].row else { return }
        _ = encode(row.properties)  // They were encoded before, or checked when the row was read.
        var header = OutgoingHeader(
            PacketQoS(table[slot].qos), isRetained: row.isRetained, isRetried: true, expiry: row.expiry,
            token: table.token(of: slot))
        // The session may take a message of QoS 2 before it may send the message: the packet id is stored first.
        header.firstSendEnd = table[slot].end
        row.topic.withUTF8Bytes { topic in
            scratch.withBytes {
                table.keepBytes(of: slot, header, topic: topic, encodedProperties: $0, payload: payload.span.bytes)
            }
        }
        table[slot].size = UInt32(row.topic.utf8.count + payload.count + scratch.count)
        scratch.removeAll()
    }
}
