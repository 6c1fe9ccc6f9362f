import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// The queue's counters of messages that are stored, or wait to be stored.
struct RowState {
    /// The default of the maximum number of waiting stored messages that are in memory, 8,192. Further messages are on
    /// disk only.
    static let defaultMemoryCount = 8_192
    /// The maximum size of the waiting stored messages that are in memory, 8 MiB.
    static let memoryByteCount = 8 << 20
    /// The maximum number of messages in one commit.
    static let commitCount = 4_096
    /// The number of bytes at which a commit takes no further message, 8 MiB.
    static let commitByteCount = 8 << 20

    let memoryCount: Int
    /// The number and the bytes of the messages that must be stored, and that are in no commit yet.
    private(set) var uncommitted = OutgoingRules.Amount()
    /// The number of uncommitted messages that the store waits for before it commits; see ``OutgoingQueue/gather(_:)``.
    var awaitedCount = 1
    /// True if the store was woken and has not checked the queue since then.
    var isScheduled = false
    /// The number and the bytes of the waiting stored messages whose bytes are in memory.
    private(set) var inMemory = OutgoingRules.Amount()
    private(set) var onDiskCount = 0
    /// True if the store may have messages of an earlier process that are not read yet.
    var hasUnreadRows = false

    init(memoryCount: Int) { self.memoryCount = memoryCount }

    var isGathering: Bool { awaitedCount > 1 && uncommitted.count < awaitedCount }

    /// Counts a message that must be stored. Returns true if the store must be woken.
    mutating func added(_ byteCount: Int) -> Bool {
        uncommitted = uncommitted + OutgoingRules.Amount(count: 1, byteCount: byteCount)
        guard !isScheduled, !isGathering else { return false }
        isScheduled = true
        return true
    }

    /// Subtracts a message from the uncommitted messages, because a commit now contains it.
    mutating func committing(_ byteCount: Int) {
        uncommitted = uncommitted - OutgoingRules.Amount(count: 1, byteCount: byteCount)
    }

    /// True if the bytes of the next stored message may stay in memory. Otherwise, the bytes are on disk only.
    var hasMemory: Bool {
        onDiskCount == 0 && inMemory.count < memoryCount && inMemory.byteCount < Self.memoryByteCount
    }

    /// True if the client must read more messages from the store. Two conditions must be met: some messages are not in
    /// memory, and at most half of each memory limit is used.
    var readsRows: Bool {
        (hasUnreadRows || onDiskCount > 0) && inMemory.count <= memoryCount / 2
            && inMemory.byteCount <= Self.memoryByteCount / 2
    }

    /// Counts a waiting message whose bytes are in memory from now on.
    mutating func entered(_ byteCount: Int) {
        inMemory = inMemory + OutgoingRules.Amount(count: 1, byteCount: byteCount)
    }

    /// Subtracts a message from the messages in memory, because the session driver took the message or the message
    /// ended.
    mutating func left(_ byteCount: Int) { inMemory = inMemory - OutgoingRules.Amount(count: 1, byteCount: byteCount) }

    mutating func movedToDisk() { onDiskCount += 1 }

    mutating func movedFromDisk() { onDiskCount -= 1 }

    /// Updates the counters, because an entry has ended.
    mutating func ended(_ state: OutgoingEntry.State, isCommitting: Bool, _ byteCount: Int) {
        switch state {
        case .storing where !isCommitting: committing(byteCount)
        case .ready: left(byteCount)
        case .onDisk: onDiskCount -= 1
        case .storing, .inFlight, .free: break
        }
    }

    /// Resets the counters that belong to a destroyed session.
    mutating func endSession() {
        hasUnreadRows = false
        awaitedCount = 1
    }

    /// Returns true if an entry must wait, because messages of an earlier process must be read from the store and sent
    /// first.
    func isBehindUnreadRows(_ entry: borrowing OutgoingEntry) -> Bool {
        hasUnreadRows && entry.flags.contains(.isDroppable)
    }
}

/// Functions for ``OutgoingStore``. They run on the event loop.
extension OutgoingQueue {
    /// Returns the properties for a message's PUBLISH packet; no properties if the client does not use MQTT 5.
    func packetProperties(_ properties: MessageProperties) -> PacketProperties {
        state.withLock { $0.carriesProperties } ? PacketProperties(publishing: properties) : []
    }

    /// The messages of one commit.
    struct CommitBatch: Sendable {
        var tokens: [Token] = []
        var messages: [StoredMessage] = []
        var byteCount = 0
        /// The epoch of the session that the messages belong to: the number of sessions that were destroyed before it.
        var epoch = 0
        /// The number of callers that wait until a message of the batch is stored.
        var acceptanceCount = 0
    }

    /// Takes messages that no commit has taken, at most as many as one commit may contain.
    ///
    /// - Parameter message: Creates the row of a message.
    /// - Returns: The messages, possibly none. `nil` while the store waits for more messages, or while the event loop
    ///   still has to end a destroyed session.
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

    /// Records that messages are stored, so that the session driver may take them.
    ///
    /// - Returns: The tasks that waited until their message is stored, and whether the session driver must check the
    ///   queue.
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

    /// Makes the store wait for `count` more messages before its next commit. Each caller whose message was just stored
    /// may publish one of these messages.
    ///
    /// - Returns: True if the store waits. Then ``stopGathering()`` must be called later.
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

    /// The maximum number of messages that the store waits for before a commit, 128. If more messages are expected, the
    /// store commits without waiting.
    static let gatheringLimit = 128

    /// Ends the store's wait for more messages. Returns true if the store must check the queue.
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

    /// Records the packet id that the session driver gave a message. Returns the row id and the QoS of the message;
    /// `nil` if the message has no row.
    func noteSent(_ token: Token, _ id: PacketID) -> (id: StoredMessage.ID, qos: QoS)? {
        state.withLock { state in
            guard let slot = state.table.slot(of: token), let row = state.table[slot].row, let rowID = row.id else {
                return nil
            }
            row.packetID = id
            return (rowID, state.table[slot].qos)
        }
    }

    /// Returns the row id and the packet id of a message; `nil` if one of them is missing.
    func sentRow(_ token: Token) -> (id: StoredMessage.ID, packetID: PacketID)? {
        state.withLock { state in
            guard let row = state.table.slot(of: token).flatMap({ state.table[$0].row }), let id = row.id,
                let packetID = row.packetID
            else { return nil }
            return (id, packetID)
        }
    }

    /// Returns the row ids of all messages that have a packet id. If `isForgotten` is true, also removes these packet
    /// ids from the entries.
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

    /// The data of a row that an earlier process stored. The queue adds an entry for this row.
    struct LoadedRow {
        let message: StoredMessage
        /// The time when the earlier process accepted the message.
        let acceptedAt: Instant
        /// The time when the message expires; `nil` means never.
        let end: Instant?
        /// The time when the message's own `messageExpiry` ends; `nil` means never.
        let expiry: Instant?
        let isLatestOnly: Bool
        let isObserved: Bool
    }

    /// Adds an entry for a message that an earlier process sent, and returns the entry's token.
    func restore(_ row: LoadedRow, packetID: PacketID) -> Token {
        state.withLock { state in
            let slot = state.append(row, .inFlight, [])
            state.table[slot].row?.packetID = packetID
            return state.table.token(of: slot)
        }
    }

    /// Records how many messages of an earlier process are not read from the store yet.
    func beginReading(unreadCount: Int) {
        state.withLock { state in
            state.rows.hasUnreadRows = unreadCount > 0
            state.rules.setUnread(unreadCount)
        }
    }

    /// The rows that must be read next from the store.
    enum Reading {
        /// The next messages of an earlier process that are not read yet.
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

    /// Adds an entry for a row of an earlier process, after the rows that were read before, if memory has room.
    ///
    /// - Returns: The entry's token, or `nil` if memory is full. `ended` is the message that a newer latest-only
    ///   message to the same topic replaced; `nil` if there is none.
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
            // Of two latest-only messages to one topic, the newer replaces the older. If `other` has a higher slot, it
            // is a newer message of this process. If `other` has a lower slot, it is an older row that was read before.
            if let other, other > slot { return (token, state.end(slot, .replaced)) }
            state.latest[key] = token
            return (token, other.map { state.end($0, .replaced) })
        }
    }

    /// Records that all rows of an earlier process were read. Returns true if the session driver must check the queue.
    func endEarlierRows() -> Bool {
        state.withLock { state in
            state.rows.hasUnreadRows = false
            state.rules.setUnread(0)
            return state.wakesLoop(.stored)
        }
    }

    /// Fills the memory from one page of rows, which is the result of one read of the store. If an entry's bytes are on
    /// disk only, copies them into memory, until the memory is full. Handles these entries in their order.
    ///
    /// - Parameters:
    ///   - rows: The page, in the order of the row ids.
    ///   - isLast: Whether the store has no rows after this page.
    /// - Returns: The results of entries that ended because their row is missing, and whether the session driver must
    ///   check the queue.
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
    /// Adds an entry for a row of an earlier process, with the message's bytes.
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
            payload: message.payload, acceptedAt: MonotonicInstant(row.acceptedAt),
            expiry: row.expiry.map { MonotonicInstant($0) } ?? .never, id: message.id)
        rowOfEntry.payload = []
        table[slot].row = rowOfEntry
        keepRow(slot, payload: message.payload)
        return slot
    }

    /// Copies a stored message's bytes into memory.
    fileprivate mutating func keepRow(_ slot: EntryTable.Slot, payload: [UInt8]) {
        guard let row = table[slot].row else { return }
        // No error is possible: the properties were encoded before, or were checked when the row was read.
        _ = encode(row.properties)
        var header = OutgoingHeader(
            PacketQoS(table[slot].qos), isRetained: row.isRetained, isRetried: true, expiry: row.expiry,
            token: table.token(of: slot))
        // Also store the entry's expiry time in the header, because the message may still expire after the session
        // driver has taken it. For QoS 2, the driver takes the message first, stores the packet id, and then sends the
        // message.
        header.firstSendEnd = table[slot].end
        header.acceptedAt = row.acceptedAt
        row.topic.withUTF8Bytes { topic in
            payload.withBytes { payload in
                scratch.withBytes {
                    table.keepBytes(of: slot, header, topic: topic, encodedProperties: $0, payload: payload)
                }
            }
        }
        table[slot].size = UInt32(row.topic.utf8.count + payload.count + scratch.count)
        scratch.removeAll()
    }
}
