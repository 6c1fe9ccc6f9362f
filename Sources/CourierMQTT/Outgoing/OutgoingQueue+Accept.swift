import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// A message of a caller, without its payload. It cannot be copied, because each copy would count references.
struct OutgoingPublish: ~Copyable, Sendable {
    let topic: String
    let qos: QoS
    var isRetained = false
    var isLatestOnly = false
    /// The properties that the app gave.
    var properties = MessageProperties.empty
    /// The adapter's content type, if the app gave no properties. It is not in ``properties``, which would allocate memory.
    var contentType: String?
    /// Whether events report the message's end.
    var isObserved = false

    /// All properties of the message, for messages that are stored.
    var allProperties: MessageProperties { contentType.map { MessageProperties(contentType: $0) } ?? properties }
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

    /// The result of accepting a message, and the work for the caller after the lock is released.
    ///
    /// A few bytes, which are returned in registers. Rare results are in ``consequences``.
    struct Acceptance: Sendable {
        struct Wakes: OptionSet {
            let rawValue: UInt8

            /// The session must look at the queue.
            static let session = Wakes(rawValue: 1)
            /// The message store's part must look at the queue.
            static let store = Wakes(rawValue: 2)
            /// The message expires before all others.
            static let timer = Wakes(rawValue: 4)
        }

        /// The name of the entry.
        fileprivate(set) var token: Token = 0
        fileprivate(set) var wakes: Wakes = []
        /// `nil` for most messages.
        fileprivate(set) var consequences: Consequences?

        var refusal: Refusal? { consequences?.refusal }

        fileprivate init() {}

        fileprivate init(_ refusal: Refusal) { consequences = Consequences(refusal) }
    }

    /// A refusal, or what ended to make room for a message.
    final class Consequences: Sendable {
        let refusal: Refusal?
        /// Messages that a new one replaced or pushed out.
        let displaced: [EndedPublish]
        /// Callers that get the remaining room.
        let roomWaiters: [Waiter<Void>]

        init(_ refusal: Refusal?, _ displaced: [EndedPublish] = [], _ roomWaiters: [Waiter<Void>] = []) {
            self.refusal = refusal
            self.displaced = displaced
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
    /// - Returns: Whether the message was accepted, and the work for the caller.
    func accept(
        _ publish: borrowing OutgoingPublish, _ payload: RawSpan, array: [UInt8]?, for recipient: PublishRecipient,
        epoch: Int? = nil, at now: MonotonicInstant?
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
        _ publish: borrowing OutgoingPublish, _ payload: RawSpan, array: [UInt8]?, for recipient: PublishRecipient,
        epoch: Int?,
        at now: MonotonicInstant?
    ) -> OutgoingQueue.Acceptance {
        let lane: EntryTable.Lane =
            publish.qos == .zero ? .unacknowledged : hasStore && publish.qos.isPersisted ? .stored : .memory
        if let refusal = refusal(lane, epoch) { return OutgoingQueue.Acceptance(refusal) }
        if let error = encodeProperties(of: publish) { return OutgoingQueue.Acceptance(.notEncodable(error)) }
        defer { if !scratch.isEmpty { scratch.removeAll() } }
        let byteCount = publish.topic.utf8.count + payload.byteCount + scratch.count
        let key = publish.isLatestOnly ? Array(publish.topic.utf8) : nil
        let older = key.flatMap { latest[$0] }.flatMap { table.slot(of: $0) }
        var result = OutgoingQueue.Acceptance()
        if older != nil || byteCount > PacketEncoder.largestPacketSize || !rules.hasRoom(for: byteCount) {
            result.consequences = makeRoom(for: byteCount, replacing: older)
            if result.refusal != nil { return result }
        }

        var flags: OutgoingEntry.Flags = [.isCounted, .isDroppable]
        if publish.isObserved, lane != .unacknowledged { flags.insert(.isObserved) }
        if key != nil { flags.insert(.isLatestOnly) }
        rules.count(byteCount, isDroppable: true)
        var (end, expiry) = (MonotonicInstant.never, MonotonicInstant.never)
        if let now {
            expiry = Self.expiry(of: publish, acceptedAt: now)
            end = min(expiry, rules.endOfAge(acceptedAt: now))
            if note(end) { result.wakes.insert(.timer) }
        }
        let slot = table.append(
            lane == .stored ? .storing : .ready, in: lane, publish.qos, byteCount: byteCount, flags, end: end)
        result.token = table.token(of: slot)
        if let key { latest[key] = result.token }
        // The caller of QoS 0 learns now that it succeeded, and no more later.
        if lane != .unacknowledged { table[slot].recipient = recipient }
        if lane == .stored {
            table[slot].row = OutgoingRow(
                topic: publish.topic, isRetained: publish.isRetained, properties: publish.allProperties,
                payload: array ?? payload.withUnsafeBytes { Array($0) }, acceptedAt: now ?? .never, expiry: expiry)
            if rows.added(byteCount) { result.wakes.insert(.store) }
        } else {
            let header = OutgoingHeader(
                PacketQoS(publish.qos), isRetained: publish.isRetained, isRetried: publish.qos.isRetried,
                expiry: expiry,
                token: lane == .unacknowledged ? EntryTable.unacknowledged : result.token)
            publish.topic.withUTF8Bytes { topic in
                scratch.withBytes {
                    table.keepBytes(of: slot, header, topic: topic, encodedProperties: $0, payload: payload)
                }
            }
            if wakesLoop(lane) { result.wakes.insert(.session) }
        }
        return result
    }

    /// When a message's own expiry is over.
    @inline(__always)
    private static func expiry(of publish: borrowing OutgoingPublish, acceptedAt now: MonotonicInstant)
        -> MonotonicInstant
    {
        if publish.properties.isEmpty { return .never }
        return publish.properties.messageExpiry.map { now.advanced(by: $0) } ?? .never  // Checked: less than 2^32 s.
    }

    /// Ends the message that a new one replaces, and as many old ones as a new one needs the room of; or refuses the new one.
    @inline(never)
    private mutating func makeRoom(
        for byteCount: Int, replacing older: EntryTable.Slot?
    ) -> OutgoingQueue.Consequences {
        if byteCount > PacketEncoder.largestPacketSize {
            let violation = Violation.packetTooLarge(size: byteCount, limit: PacketEncoder.largestPacketSize)
            return OutgoingQueue.Consequences(.notEncodable(EncodeError(violation, in: .publish, .remainingLength)))
        }
        switch rules.verdict(for: byteCount, replacing: older.flatMap { replacedSize($0) }) {
        case .accept, .acceptAfterDropping: break
        case .refuse: return OutgoingQueue.Consequences(.full(byteCount: byteCount, epoch: epoch))
        case .dropNewest: return OutgoingQueue.Consequences(.dropped)
        case .tooLarge: return OutgoingQueue.Consequences(.tooLarge(byteCount: byteCount))
        }
        var ended: [EndedPublish] = []
        if let older { ended.append(end(older, .replaced)) }
        while !rules.hasRoom(for: byteCount), let oldest = table.firstDroppable() {
            ended.append(end(oldest, .dropped))
        }
        return OutgoingQueue.Consequences(nil, ended, rules.takeReadyWaiters())
    }

    /// Why no message of a lane is accepted now.
    @inline(__always)
    private func refusal(_ lane: EntryTable.Lane, _ epoch: Int?) -> OutgoingQueue.Refusal? {
        let isPresent = hasSession && (epoch ?? self.epoch) == self.epoch
        let mayWait = lane != .unacknowledged || rules.policy.queuesQoS0 || (!isHeld && rules.isConnected)
        return isPresent && mayWait && finish == nil ? nil : reasonToRefuse(epoch)
    }

    @inline(never)
    private func reasonToRefuse(_ epoch: Int?) -> OutgoingQueue.Refusal {
        if let finish { return .finished(finish) }
        if let epoch, epoch != self.epoch { return .destroyed }
        return hasSession ? .notConnected : .noSession
    }

    /// Encodes a new message's properties into ``scratch``, if a broker may speak MQTT 5.
    ///
    /// - Returns: The mistake in them, if there is one. ``scratch`` is empty then.
    @inline(__always)
    private mutating func encodeProperties(of publish: borrowing OutgoingPublish) -> EncodeError? {
        guard carriesProperties else { return nil }
        if let contentType = publish.contentType {
            do throws(EncodeError) {
                try PacketEncoder(version: .v5, sender: .client).encodeContentType(contentType, into: &scratch)
                return nil
            } catch {
                return error
            }
        }
        return publish.properties.isEmpty ? nil : encode(publish.properties)
    }

    /// Encodes a message's properties into ``scratch``, if a broker may speak MQTT 5.
    ///
    /// - Returns: The mistake in the properties, if there is one. ``scratch`` is empty then.
    mutating func encode(_ properties: MessageProperties) -> EncodeError? {
        guard !properties.isEmpty, carriesProperties else { return nil }
        do throws(EncodeError) {
            try properties.encode(into: &scratch)
            return nil
        } catch {
            scratch.removeAll()
            return error
        }
    }

    private func replacedSize(_ slot: EntryTable.Slot) -> Int? {
        table[slot].flags.contains(.isCounted) ? table[slot].byteCount : nil
    }

    /// Notes when an entry expires; whether that is before all others.
    mutating func note(_ end: MonotonicInstant) -> Bool {
        guard end < nextEnd else { return false }
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
}
