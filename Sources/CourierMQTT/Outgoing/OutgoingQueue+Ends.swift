import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// A publish that ended. Its entry was removed from the queue, but its result is not reported yet.
struct EndedPublish: Sendable {
    /// The reason why a publish ended.
    enum Cause: Sendable {
        case acknowledged(PacketReasonCode, PacketProperties)
        case engine(EngineAction.Failure)
        /// The message waited too long.
        case expired
        /// A newer message to the same topic replaced the message.
        case replaced
        /// The message was dropped because a limit of the queue was reached.
        case dropped
        /// The app withdrew the message.
        case withdrawn
        /// The connection ended while a message of QoS 0 waited for the socket.
        case connectionLost
        /// The session was destroyed.
        case destroyed
        /// The client ended. The message's row stays in the store for the next process.
        case clientEnded(CourierError)
        case failed(CourierError)
        /// The broker ended connections because of the message. The message store keeps the message and marks it as
        /// rejected.
        case rejected(CourierError)

        /// True unless the broker acknowledged the message with success.
        fileprivate var isFailure: Bool {
            if case .acknowledged(let code, _) = self { code.isFailure } else { true }
        }

        /// True if the message's row must be removed from the store. False for a destroyed session, because other code
        /// removes all rows of that session at once.
        fileprivate var removesRow: Bool {
            switch self {
            case .destroyed, .clientEnded, .rejected: false
            case .acknowledged, .engine, .expired, .replaced, .dropped, .withdrawn, .connectionLost, .failed: true
            }
        }
    }

    let cause: Cause
    let recipient: PublishRecipient
    let topic: String
    let qos: QoS
    let byteCount: Int
    /// The payload if events report the end of the message; otherwise `nil`.
    let payload: Data?
    /// The message's row in the store if the row must be removed; otherwise `nil`.
    var row: EndedRow?
}

/// The row of a message that ended.
struct EndedRow: Sendable {
    let id: StoredMessage.ID
    /// True if the session driver had given the message a packet id.
    let wasSent: Bool
}

/// Ends entries, and returns the results of their messages.
extension OutgoingQueue {
    /// Ends an entry. Returns `nil` if the entry has already ended.
    func end(_ token: Token, _ cause: EndedPublish.Cause) -> EndedPublish? {
        state.withLock { state in state.table.slot(of: token).map { state.end($0, cause) } }
    }

    /// Ends an entry that the session driver has never taken.
    ///
    /// - Returns: The ended publish, and the waiters to resume because there is room now. `nil` if the message was
    ///   already sent or has ended.
    func withdraw(_ token: Token) -> (ended: EndedPublish, roomWaiters: [Waiter<Void>])? {
        state.withLock { state in
            guard let slot = state.table.slot(of: token), state.table[slot].isWaiting,
                state.table[slot].flags.contains(.isDroppable)
            else { return nil }
            return (state.end(slot, .withdrawn), state.rules.takeReadyWaiters())
        }
    }

    /// Returns the whole message of an entry, or `nil` if the entry has ended or its bytes are not in memory.
    func message(_ token: Token) -> Message? {
        state.withLock { state in
            guard let slot = state.table.slot(of: token), let view = state.table.view(slot) else { return nil }
            return Message(
                data: Data(view.payload), topic: String(decoding: view.topic, as: UTF8.self),
                qos: state.table[slot].qos, isRetained: view.header.isRetained,
                properties: state.table[slot].row?.properties ?? Self.properties(of: view))
        }
    }

    /// Returns the row id of a message, or `nil` if the message has no row.
    func row(of token: Token) -> StoredMessage.ID? {
        state.withLock { state in state.table.slot(of: token).flatMap { state.table[$0].row?.id } }
    }

    /// Decodes the properties of a message that is not in the store. The result lacks the message's expiry, because the encoded
    /// properties do not contain it.
    private static func properties(of view: MessageView) -> MessageProperties {
        let limits = PacketDecoder.Limits(maximumProperties: MessageProperties.userPropertyLimit + 8)
        let decoder = PacketDecoder(version: .v5, sender: .client, limits: limits)
        return MessageProperties((try? decoder.publishProperties(view.properties)) ?? [])
    }

    /// The broker's answer to one outgoing message.
    struct Answer: Sendable {
        let token: Token
        let code: PacketReasonCode
    }

    /// The results of the messages that the broker answered. Each list needs different work by the caller.
    struct Answered: Sendable {
        var calls: [CompletionQueue.Call] = []
        var tasks: [(task: PublishContinuation, code: PacketReasonCode)] = []
        var rows: [EndedRow] = []
        /// Events of messages that succeeded.
        var events: [CourierEventType] = []
        var failures: [EndedPublish] = []

        /// Removes all elements. Also frees the memory of each list whose capacity is above `count`.
        mutating func removeAll(keeping count: Int) {
            calls.removeAll(keepingCapacity: calls.capacity <= count)
            tasks.removeAll(keepingCapacity: tasks.capacity <= count)
            if !rows.isEmpty { rows.removeAll(keepingCapacity: rows.capacity <= count) }
            if events.capacity > count { events = [] }
            if !failures.isEmpty { failures = [] }
        }
    }

    /// Ends the entries of the messages that the broker answered, in the order of the answers. `now` is the time when
    /// the answers arrived.
    func acknowledged(_ answers: [Answer], now: MonotonicInstant, _ answered: inout Answered) {
        state.withLock { state in
            for answer in answers {
                guard let slot = state.table.slot(of: answer.token) else { continue }
                if answer.code.isFailure {
                    answered.failures.append(state.end(slot, .acknowledged(answer.code, [])))
                } else {
                    state.succeeded(slot, answer.code, now, &answered)
                }
            }
        }
    }
}

extension OutgoingQueue.State {
    /// Removes an entry that the broker acknowledged, and adds its results to `answered`.
    @inline(__always)
    fileprivate mutating func succeeded(
        _ slot: EntryTable.Slot, _ code: PacketReasonCode, _ now: MonotonicInstant,
        _ answered: inout OutgoingQueue.Answered
    ) {
        acknowledgedCount &+= 1
        let sentAt = table.sentAt(slot)
        if sentAt != .never { acknowledgementTimes.add(nanoseconds: now.nanoseconds &- sentAt.nanoseconds) }
        if table[slot].flags.contains(.isObserved), let view = table.view(slot) {
            answered.events.append(
                .messageSendSuccess(
                    topic: lastTopic.string(of: view.topic), qos: table[slot].qos, sizeBytes: view.payload.count,
                    data: Data(view.payload)))
        }
        if let row = table[slot].row, let id = row.id {
            answered.rows.append(EndedRow(id: id, wasSent: row.packetID != nil))
        }
        switch table[slot].recipient {
        case .nobody: break
        case .completion(let completion): answered.calls.append(.answered(completion, code))
        case .task(let task), .acceptance(let task): answered.tasks.append((task, code))
        }
        table.remove(slot)
    }

    /// Removes an entry in any state, and returns the ended publish.
    mutating func end(_ slot: EntryTable.Slot, _ cause: EndedPublish.Cause) -> EndedPublish {
        if cause.isFailure { failedCount += 1 } else { acknowledgedCount += 1 }
        let flags = table[slot].flags
        if flags.contains(.isCounted) {
            rules.uncount(table[slot].byteCount, isDroppable: flags.contains(.isDroppable))
        }
        if flags.contains(.isLatestOnly) { forgetLatest(slot) }
        let row = table[slot].row
        if table[slot].lane == .stored {
            rows.ended(table[slot].state, isCommitting: flags.contains(.isCommitting), table[slot].byteCount)
        }
        let recipient = exchange(&table[slot].recipient, with: .nobody)
        let isObserved = flags.contains(.isObserved)
        let endedRow: EndedRow? =
            if cause.removesRow, let row, let id = row.id {
                EndedRow(id: id, wasSent: row.packetID != nil)
            } else {
                nil
            }
        let ended: EndedPublish
        if let view = table.view(slot) {
            ended = EndedPublish(
                cause: cause, recipient: recipient, topic: lastTopic.string(of: view.topic),
                qos: table[slot].qos, byteCount: view.payload.count, payload: isObserved ? Data(view.payload) : nil,
                row: endedRow)
        } else {
            ended = EndedPublish(
                cause: cause, recipient: recipient, topic: row?.topic ?? "", qos: table[slot].qos,
                byteCount: row?.payloadByteCount ?? 0, payload: isObserved ? row.map { Data($0.payload) } : nil,
                row: endedRow)
        }
        table.remove(slot)
        return ended
    }

    /// Ends all entries with the cause `cause`, and removes all callers that wait for room. Returns the ended publishes
    /// and the callers.
    mutating func takeAll(_ cause: EndedPublish.Cause) -> OutgoingQueue.Remains {
        var remains = OutgoingQueue.Remains()
        while let slot = table.first { remains.ended.append(end(slot, cause)) }
        latest = [:]
        nextEnd = .never
        remains.roomWaiters = rules.takeAllWaiters()
        return remains
    }

    /// Returns the bytes of an entry's topic, which are its key in the dictionary `latest`.
    func topicBytes(_ slot: EntryTable.Slot) -> [UInt8] {
        if let row = table[slot].row { return Array(row.topic.utf8) }
        return table.view(slot).map { Array($0.topic) } ?? []
    }

    /// Removes an entry from the dictionary `latest`, so that no newer latest-only message replaces the entry.
    mutating func forgetLatest(_ slot: EntryTable.Slot) {
        let key = topicBytes(slot)
        if latest[key] == table.token(of: slot) { latest[key] = nil }
    }
}
