import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// A message that a caller publishes, without its payload. The type is not copyable, because the reference counting of
/// each copy would cost time.
struct OutgoingPublish: ~Copyable, Sendable {
    let topic: String
    let qos: QoS
    var isRetained = false
    var isLatestOnly = false
    /// The properties that the app set.
    var properties = MessageProperties.empty
    /// The adapter's content type, if the app set no properties. The content type has its own variable, because a list
    /// of properties would allocate memory.
    var contentType: String?
    /// True if events report the end of the message.
    var isObserved = false

    /// All properties of the message, for messages that are stored.
    var allProperties: MessageProperties { contentType.map { MessageProperties(contentType: $0) } ?? properties }
}

/// Accepts messages from callers. All functions may be called from any thread.
extension OutgoingQueue {
    /// The reason why the queue did not accept a message.
    enum Refusal: Sendable {
        /// The queue has no room for a message of this size. `epoch` identifies the session that the message belongs
        /// to.
        case full(byteCount: Int, epoch: Int)
        /// The message alone is larger than the limit for the bytes of all waiting messages.
        case tooLarge(byteCount: Int)
        /// There is no room, and the policy drops the new message.
        case dropped
        /// There is no connection, and the policy does not let QoS 0 messages wait for a connection.
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
    /// The value is only a few bytes long, so that it can be returned in registers. Results that are rarely needed are
    /// in ``consequences``.
    struct Acceptance: Sendable {
        /// The parts of the client that the caller must wake.
        struct Wakes: OptionSet {
            let rawValue: UInt8

            /// Wake the session driver, so that it checks the queue.
            static let session = Wakes(rawValue: 1)
            /// Wake `OutgoingStore`, so that it commits the new message.
            static let store = Wakes(rawValue: 2)
            /// Set the expiry timer again, because the new message expires before all other messages.
            static let timer = Wakes(rawValue: 4)
        }

        /// The token of the message's entry.
        fileprivate(set) var token: Token = 0
        fileprivate(set) var wakes: Wakes = []
        /// The rarely needed results; `nil` for most messages.
        fileprivate(set) var consequences: Consequences?

        var refusal: Refusal? { consequences?.refusal }

        fileprivate init() {}

        fileprivate init(_ refusal: Refusal) { consequences = Consequences(refusal) }
    }

    /// The refusal of a message, or the messages that ended to make room for it.
    final class Consequences: Sendable {
        let refusal: Refusal?
        /// Messages that the new message replaced, or that were dropped to make room for it.
        let displaced: [EndedPublish]
        /// Waiters to resume, because there is room for their messages.
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
    ///   - payload: The payload of the message.
    ///   - array: The same payload as an array, if the caller has an array. If the message is stored, the queue uses
    ///     this array instead of copying the payload.
    ///   - recipient: The receiver of the message's result.
    ///   - epoch: The epoch of the session that the message belongs to; `nil` for the present session.
    ///   - now: The current time. The time must be exact if the message expires or is stored.
    /// - Returns: Whether the message was accepted, and the work for the caller.
    func accept(
        _ publish: borrowing OutgoingPublish, _ payload: RawSpan, array: [UInt8]?, for recipient: PublishRecipient,
        epoch: Int? = nil, at now: MonotonicInstant
    ) -> Acceptance {
        state.withLock { state in
            state.accept(publish, payload, array: array, for: recipient, epoch: epoch, at: now)
        }
    }

    /// Removes and returns the receiver of a message's result. The message is still delivered, but without a report to
    /// this receiver.
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
        epoch: Int?, at now: MonotonicInstant
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
        let expiry = Self.expiry(of: publish, acceptedAt: now)
        let end = min(expiry, rules.endOfAge(acceptedAt: now))
        if note(end) { result.wakes.insert(.timer) }
        let slot = table.append(
            lane == .stored ? .storing : .ready, in: lane, publish.qos, byteCount: byteCount, flags, end: end)
        result.token = table.token(of: slot)
        if let key { latest[key] = result.token }
        // No receiver waits for the result of a QoS 0 publish, because the publish succeeds when the message is
        // accepted.
        if lane != .unacknowledged { table[slot].recipient = recipient }
        if lane == .stored {
            table[slot].row = OutgoingRow(
                topic: publish.topic, isRetained: publish.isRetained, properties: publish.allProperties,
                payload: array ?? payload.withUnsafeBytes { Array($0) }, acceptedAt: now, expiry: expiry)
            if rows.added(byteCount) { result.wakes.insert(.store) }
        } else {
            var header = OutgoingHeader(
                PacketQoS(publish.qos), isRetained: publish.isRetained, isRetried: publish.qos.isRetried,
                expiry: expiry,
                token: lane == .unacknowledged ? EntryTable.unacknowledged : result.token)
            header.acceptedAt = now
            publish.topic.withUTF8Bytes { topic in
                scratch.withBytes {
                    table.keepBytes(of: slot, header, topic: topic, encodedProperties: $0, payload: payload)
                }
            }
            if wakesLoop(lane) { result.wakes.insert(.session) }
        }
        return result
    }

    /// Returns the time when the message's own `messageExpiry` ends.
    @inline(__always)
    private static func expiry(of publish: borrowing OutgoingPublish, acceptedAt now: MonotonicInstant)
        -> MonotonicInstant
    {
        if publish.properties.isEmpty { return .never }
        // The sum cannot overflow, because `messageExpiry` was checked before and is less than 2^32 s.
        return publish.properties.messageExpiry.map { now.advanced(by: $0) } ?? .never
    }

    /// Returns the reason why the queue accepts no message of a lane (a group of messages that keep their order) now,
    /// or `nil` if it accepts messages.
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

    /// Encodes the properties of a new message into ``scratch``, if the client may use MQTT 5.
    ///
    /// - Returns: The error in the properties, or `nil`. After an error, ``scratch`` is empty.
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

    /// Encodes the properties of a message into ``scratch``, if the client may use MQTT 5.
    ///
    /// - Returns: The error in the properties, or `nil`. After an error, ``scratch`` is empty.
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

    /// Returns true if the event loop must be woken for a new message. After that, returns false until the loop has
    /// checked the queue.
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
