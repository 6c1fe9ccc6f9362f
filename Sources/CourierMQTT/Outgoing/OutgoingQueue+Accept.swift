import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// A message that a caller hands over, beside its payload.
struct OutgoingPublish: Sendable {
    let topic: String
    let qos: QoS
    var isRetained = false
    var isLatestOnly = false
    /// The properties that the app or the adapter gave.
    var properties = MessageProperties.empty
    /// Whether events report the message's end.
    var isObserved = false
}

/// From callers into the queue. All functions may be called from any thread.
extension OutgoingQueue {
    /// Why the queue did not accept a message.
    enum Refusal: Sendable {
        /// There is no room for a message of this size, in the session with this number.
        case full(byteCount: Int, epoch: Int)
        /// The message is larger than everything that may wait together.
        case tooLarge(byteCount: Int)
        /// There is no room, and the policy drops new messages.
        case dropped
        /// There is no connection, and messages of QoS 0 do not wait for one.
        case notConnected
        /// `connect()` was not called.
        case noSession
        /// The message's session was destroyed.
        case destroyed
        indirect case finished(CourierError)
        indirect case notEncodable(EncodeError)
    }

    /// What became of a message, and what the caller has to do now that the lock is free.
    struct Acceptance: Sendable {
        var refusal: Refusal?
        /// The name of the entry.
        var token: Token = 0
        /// The session that the message belongs to.
        var epoch = 0
        /// The session must look at the queue.
        var wakesSession = false
        /// The message store's part must look at the queue.
        var wakesStore = false
        /// The message expires before all others.
        var wakesTimer = false
        /// What was replaced or dropped; `nil` for most messages.
        var displaced: Displaced?
    }

    /// Messages that made room for a new one.
    final class Displaced: Sendable {
        let ended: [EndedPublish]
        /// Callers that the rest of the room goes to.
        let roomWaiters: [Waiter<Void>]

        init(_ ended: [EndedPublish], _ roomWaiters: [Waiter<Void>]) {
            self.ended = ended
            self.roomWaiters = roomWaiters
        }
    }

    /// Accepts a message, if the rules allow it.
    ///
    /// - Parameters:
    ///   - publish: The message.
    ///   - payload: Its payload.
    ///   - array: The same payload if the caller has it as an array, for messages that are stored.
    ///   - recipient: The caller that learns the end.
    ///   - epoch: The session that the message belongs to; `nil` for the present one.
    ///   - now: The present; only needed with a message store, a maximum age or an expiry.
    /// - Returns: What became of the message.
    func accept(
        _ publish: OutgoingPublish, _ payload: RawSpan, array: [UInt8]?, for recipient: PublishRecipient,
        epoch: Int? = nil, at now: Moment?
    ) -> Acceptance {
        state.withLock { state in
            state.accept(publish, payload, array: array, for: recipient, epoch: epoch, at: now)
        }
    }

    /// Removes and returns the caller that waits for an entry's end. The delivery continues.
    func takeRecipient(_ token: Token) -> PublishRecipient {
        state.withLock { state in
            guard let slot = state.table.slot(of: token) else { return .nobody }
            return exchange(&state.table[slot].recipient, with: .nobody)
        }
    }
}

extension OutgoingQueue.State {
    fileprivate mutating func accept(
        _ publish: OutgoingPublish, _ payload: RawSpan, array: [UInt8]?, for recipient: PublishRecipient, epoch: Int?,
        at now: Moment?
    ) -> OutgoingQueue.Acceptance {
        var result = OutgoingQueue.Acceptance(epoch: self.epoch)
        let lane: EntryTable.Lane =
            publish.qos == .zero ? .unacknowledged : hasStore && publish.qos.isPersisted ? .stored : .memory
        if let refusal = refusal(lane, epoch) {
            result.refusal = refusal
            return result
        }
        do throws(EncodeError) {
            try encode(publish.properties)
        } catch {
            result.refusal = .notEncodable(error)
            return result
        }
        defer { if !scratch.isEmpty { scratch.removeAll() } }
        let byteCount = publish.topic.utf8.count + payload.byteCount + scratch.count
        let key = publish.isLatestOnly ? Array(publish.topic.utf8) : nil
        let older = key.flatMap { latest[$0] }
        switch rules.verdict(for: byteCount, replacing: older.flatMap { replacedSize($0) }) {
        case .accept: break
        case .acceptAfterDropping: break
        case .refuse: result.refusal = .full(byteCount: byteCount, epoch: self.epoch)
        case .dropNewest: result.refusal = .dropped
        case .tooLarge: result.refusal = .tooLarge(byteCount: byteCount)
        }
        if result.refusal != nil { return result }
        let displaced = older != nil || !rules.hasRoom(for: byteCount) ? displace(older, for: byteCount) : []

        let slot = table.append(lane == .stored ? .storing : .ready, in: lane)
        result.token = table.token(of: slot)
        table[slot].byteCount = byteCount
        table[slot].qos = publish.qos
        table[slot].flags = [.isCounted, .isDroppable]
        if lane != .unacknowledged {  // The caller of QoS 0 learns now that it succeeded, and no more later.
            if publish.isObserved { table[slot].flags.insert(.isObserved) }
            table[slot].recipient = recipient
        }
        if table[lane].firstDroppable == EntryTable.noSlot { table[lane].firstDroppable = slot }
        if let key {
            table[slot].flags.insert(.isLatestOnly)
            latest[key] = slot
        }
        rules.count(byteCount, isDroppable: true)
        let ownExpiry = publish.properties.isEmpty ? nil : publish.properties.messageExpiry
        if let now, let end = rules.end(acceptedAt: now, ownExpiry: ownExpiry) {
            table[slot].end = end
            result.wakesTimer = note(end)
        }
        let expiry = now.flatMap { now in ownExpiry.map { now.advanced(by: $0) } }  // Checked: less than 2^32 s.
        if lane == .stored {
            table[slot].row = OutgoingRow(
                topic: publish.topic, isRetained: publish.isRetained, properties: publish.properties,
                payload: array ?? payload.withUnsafeBytes { Array($0) }, acceptedAt: now?.instant ?? .now,
                expiry: expiry?.instant)
            result.wakesStore = rows.added(byteCount)
        } else {
            var header = OutgoingHeader(
                PacketQoS(publish.qos), isRetained: publish.isRetained, isRetried: publish.qos.isRetried,
                token: lane == .unacknowledged ? 0 : result.token)
            if let expiry { header.expiry = expiry.instant }
            let topic = publish.topic.utf8Span.span.bytes
            scratch.withBytes {
                table.keepBytes(of: slot, header, topic: topic, encodedProperties: $0, payload: payload)
            }
            result.wakesSession = wakesLoop(lane)
        }
        if !displaced.isEmpty {
            result.displaced = OutgoingQueue.Displaced(displaced, rules.takeReadyWaiters())
        }
        return result
    }

    /// Ends the message that a new one replaces, and as many old ones as a new one needs the room of.
    private mutating func displace(_ older: EntryTable.Slot?, for byteCount: Int) -> [EndedPublish] {
        var ended: [EndedPublish] = []
        if let older { ended.append(end(older, .replaced)) }
        while !rules.hasRoom(for: byteCount), let oldest = oldestDroppable() { ended.append(end(oldest, .dropped)) }
        return ended
    }

    /// Why no message of a lane is accepted now.
    private func refusal(_ lane: EntryTable.Lane, _ epoch: Int?) -> OutgoingQueue.Refusal? {
        if let finish { return .finished(finish) }
        if let epoch, epoch != self.epoch { return .destroyed }
        if !hasSession { return .noSession }
        if lane == .unacknowledged, !rules.policy.queuesQoS0, isHeld || !rules.isConnected { return .notConnected }
        return nil
    }

    /// Encodes a message's properties into ``scratch``, unless no broker can be told them.
    mutating func encode(_ properties: MessageProperties) throws(EncodeError) {
        guard !properties.isEmpty, carriesProperties else { return }
        do throws(EncodeError) {
            try properties.encode(into: &scratch)
        } catch {
            scratch.removeAll()
            throw error
        }
    }

    private func replacedSize(_ slot: EntryTable.Slot) -> Int? {
        table[slot].flags.contains(.isCounted) ? table[slot].byteCount : nil
    }

    /// Notes when an entry expires; whether that is before all others.
    mutating func note(_ end: Moment) -> Bool {
        guard nextEnd.map({ end < $0 }) ?? true else { return false }
        nextEnd = end
        return true
    }

    /// Whether the loop must be woken for a new message; at most once until the loop has looked.
    mutating func wakesLoop(_ lane: EntryTable.Lane) -> Bool {
        switch wakeCondition {
        case .nothing: return false
        case .unacknowledgedMessage where lane != .unacknowledged: return false
        case .anyMessage, .unacknowledgedMessage:
            wakeCondition = .nothing
            return true
        }
    }

    /// The oldest entry of all lanes that a limit may drop.
    private func oldestDroppable() -> EntryTable.Slot? {
        var oldest: EntryTable.Slot?
        for lane in EntryTable.Lane.allCases {
            let slot = table[lane].firstDroppable
            guard slot != EntryTable.noSlot else { continue }
            if let other = oldest, table[other].order < table[slot].order { continue }
            oldest = slot
        }
        return oldest
    }
}
