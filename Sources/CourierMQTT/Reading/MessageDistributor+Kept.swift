import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Keeps messages that have no reader until a matching reader is added. If a message cannot be kept, drops and reports
/// it.
extension MessageDistributor {
    /// The time after which the client stores and acknowledges a message that a loop has left unacknowledged, 10 s.
    /// Without a store, the client keeps the message in memory.
    ///
    /// A broker limits the number of unacknowledged messages, and acknowledgements are sent in the order of the
    /// messages ([MQTT-4.6.0-2]). So one message that is never acknowledged would eventually stop all later messages.
    static let unfinishedPatience = Duration.seconds(10)

    /// The shortest time between two log lines of the same kind, 60 s; see ``LastWarnings`` for the kinds.
    static let warningInterval = Duration.seconds(60)

    /// Passes kept messages to a new reader: all kept messages that match the reader's filter.
    func pushKept(to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        push(state.pointee.kept.take(reader.filter), to: id, reader.mode)
    }

    /// Passes kept messages, each with its end time, to a reader.
    private func push(
        _ messages: [(message: ReceivedMessage, end: ContinuousClock.Instant?)], to id: ReaderID,
        _ mode: AcknowledgementMode
    ) {
        var slices: [MessageSlice] = []
        for (message, end) in messages {
            let ticket: AcknowledgementTicket
            if mode == .afterProcessing, let present = message.ticket {
                ticket = present
            } else {
                // If the broker still waits for the acknowledgement, send it now, because this reader acknowledges on
                // receipt. If the reader ends without reading the message, the client keeps the message again.
                message.acknowledge()
                let end = message.ticket == nil ? end : nil
                ticket = AcknowledgementTicket(.kept(until: end), readers: 1, done: dependencies.finished)
            }
            slices.append(MessageSlice(message.ticketed(ticket)))
        }
        guard !slices.isEmpty else { return }
        guard state.pointee.readers[id]?.catchUp != nil else { return push(&slices, to: id) }
        // Insert the kept messages after the stored messages, because they are newer.
        for slice in slices { state.pointee.shares[id].insertEarlier(slice) }
    }

    /// Returns true if the message arrived in the current session.
    private func isOfSession(_ message: ReceivedMessage) -> Bool { message.arrival >= state.pointee.sessionSerial }

    /// Passes a message to the first reader that was added after the message arrived. The reader's filter must match
    /// the topic, and its serial number must be above `serial`. Returns `false` if there is no such reader.
    ///
    /// Skips earlier readers, because they have already received the message or a copy, or do not read its topic.
    private func give(
        _ message: ReceivedMessage, until end: ContinuousClock.Instant? = nil, after serial: Int,
        _ isRight: (Reader) -> Bool = { _ in true }
    ) -> Bool {
        guard let (id, reader) = firstReader(of: message.topic, after: max(serial, message.arrival), isRight) else {
            return false
        }
        push([(message, end)], to: id, reader.mode)
        return true
    }

    /// Passes a message that the reader `leaver` did not finish to a matching reader that was added after `leaver`.
    /// Skips a reader if the broker sends it the message as a retained message. Returns `false` if there is no suitable
    /// reader.
    private func give(
        _ message: ReceivedMessage, until end: ContinuousClock.Instant? = nil, leftBy leaver: Reader
    ) -> Bool {
        give(message, until: end, after: leaver.serial) { !isSent(message, to: $0) }
    }

    /// True if the broker sends this message to `reader` as a retained message. This is the case if the client has sent
    /// a SUBSCRIBE since the reader was added, or will send one.
    private func isSent(_ message: ReceivedMessage, to reader: Reader) -> Bool {
        guard isKeptByBroker(message), let topic = try? TopicName(received: message.topic),
            let subscriptions = dependencies.subscriptions()
        else { return false }
        return subscriptions.bringsRetained(on: topic, to: reader.filter, after: reader.lastRequest)
    }

    /// True if the broker has stored the message as a retained message, and so sends it to new subscribers of its
    /// topic.
    private func isKeptByBroker(_ message: ReceivedMessage) -> Bool {
        message.isRetained && dependencies.subscriptions()?.areFlaggedKept == true
    }

    private func firstReader(
        of topic: String, after serial: Int, _ isRight: (Reader) -> Bool = { _ in true }
    ) -> (id: ReaderID, reader: Reader)? {
        guard let topic = try? TopicName(received: topic) else { return nil }
        var first: (id: ReaderID, reader: Reader)?
        for (id, reader) in state.pointee.readers.enumerated() {
            guard let reader, reader.serial > serial, reader.serial < first?.reader.serial ?? .max,
                reader.filter?.matches(topic) ?? true, isRight(reader)
            else { continue }
            first = (id, reader)
        }
        return first
    }

    /// Keeps the messages that the reader `leaver` has not acknowledged or not read. Drops messages of a destroyed
    /// session. If a matching reader was added later, and has not received a message yet, passes the message to this
    /// reader at once.
    func keepUnfinished(_ messages: [ReceivedMessage], of leaver: Reader) {
        loop.preconditionOnLoop()
        let messages = messages.filter { isOfSession($0) }
        giveBackRows(of: messages, after: leaver.serial)
        let end = loop.now.advanced(by: Self.unfinishedPatience)
        var topicsAfterRows: Set<String> = []
        var hasRows = false
        for message in messages {
            switch message.ticket?.receipt {
            case .row: hasRows = true
            case .delivery(let handle):
                if !message.isShared, isNeeded(handle), give(message, leftBy: leaver) { continue }
                if !state.pointee.kept.keepUnfinished(message, until: end) { message.acknowledge() }
                // If a matching reader was added after `leaver`, it already has this message. If there is no such
                // reader, store the message behind the unfinished rows of `leaver`, to keep the order of arrival.
                if hasRows, firstReader(of: message.topic, after: leaver.serial) == nil {
                    topicsAfterRows.insert(message.topic)
                }
            case .kept(let end): if !give(message, until: end, leftBy: leaver) { keepOn(message, until: end) }
            case nil: keepUnread(message, of: leaver)
            }
        }
        // Store the unacknowledged messages of these topics now, behind the stored messages of the same topics. So the
        // next reader gets all messages in the order of their arrival.
        if let rows {
            for topic in topicsAfterRows { storeUnfinished(state.pointee.kept.takeUnfinished(topic: topic), in: rows) }
        }
        setUnfinishedTimer()
    }

    /// Releases those messages that are rows of the store, so that other readers can read them. Readers whose serial
    /// number is higher than `serial` read these rows at once.
    private func giveBackRows(of messages: [ReceivedMessage], after serial: Int) {
        guard let rows else { return }
        var topics: Set<String> = []
        for message in messages {
            guard let row = message.ticket?.row else { continue }
            rows.giveBack(row.id, of: row.epoch)
            topics.insert(message.topic)
        }
        guard rows.hasRows else { return }
        for topic in topics { rowAppeared(topic, after: serial, isGivenBack: true) }
    }

    private func setUnfinishedTimer() {
        guard state.pointee.unfinishedTimer == nil, let end = state.pointee.kept.nextUnfinishedEnd else { return }
        state.pointee.unfinishedTimer = loop.schedule(at: end) { [weak self] in
            guard let self else { return }
            state.pointee.unfinishedTimer = nil
            finishUnfinished()
            setUnfinishedTimer()
        }
    }

    /// Stores and then acknowledges the unacknowledged messages whose end time has passed. Without a store, keeps them
    /// in memory and acknowledges them. If there is no room for a message, the message stays unacknowledged.
    private func finishUnfinished() {
        if let rows {
            storeUnfinished(state.pointee.kept.takeUnfinished(now: loop.now), in: rows)
        } else {
            let later = loop.now.advanced(by: Self.unfinishedPatience)
            let (finished, areAll) = state.pointee.kept.finishUnfinished(now: loop.now, orUntil: later)
            for message in finished { message.acknowledge() }
            if !areAll { warnOfUnfinished() }
        }
    }

    private func warnOfUnfinished() {
        warn(
            "Loops over messages ended before the messages were processed. "
                + "These messages delay other messages, because a limit of kept messages is reached. "
                + "Read the topics of these messages, or raise limits.maximumKeptMessages or limits.maximumKeptBytes.")
    }

    private func storeUnfinished(_ messages: [ReceivedMessage], in rows: DurableInbox) {
        guard !messages.isEmpty else { return }
        let lastReader = state.pointee.lastSerial
        let refused = RefusedMessages(messages.count) { [weak self] in self?.putBack($0, after: lastReader) }
        for (index, message) in messages.enumerated() {
            guard case .delivery(let handle)? = message.ticket?.receipt else {
                state.pointee.kept.storingEnded(message)
                refused.settle(index, nil)
                continue
            }
            // Do not store a packet id of an earlier session, because another message may have this id now.
            let id = dependencies.awaits(handle) ? handle.storedID : nil
            let isTaken = rows.keep(message, packetID: id, for: nil, isNew: false) { [weak self] outcome in
                guard let self else { return }
                if case .success = outcome {
                    message.acknowledge()
                    rowAppeared(message.topic, after: lastReader)
                }
                let isRefused = outcome.isRefusal && isNeeded(handle)
                if !isRefused { state.pointee.kept.storingEnded(message) }
                refused.settle(index, isRefused ? message : nil)
            }
            if !isTaken { refused.settle(index, message) }
        }
    }

    /// True if the message would be lost if the client dropped it. A QoS 1 message of an earlier connection would not
    /// be lost, because the broker sends it again.
    private func isNeeded(_ handle: IncomingMessage.Handle) -> Bool {
        handle.qos == .exactlyOnce || dependencies.awaits(handle)
    }

    /// Handles unacknowledged messages that the store refused. Passes each message to a matching reader that was added
    /// in the meantime. Without such a reader, the message is kept in memory and stays unacknowledged.
    private func putBack(_ messages: [ReceivedMessage], after lastReader: Int) {
        for message in messages { state.pointee.kept.storingEnded(message) }
        let left = messages.filter { isOfSession($0) && !give($0, after: lastReader) }
        guard !left.isEmpty else { return }
        let end = loop.now.advanced(by: Self.unfinishedPatience)
        for message in state.pointee.kept.putBack(left, until: end) { message.acknowledge() }
        setUnfinishedTimer()
        warnOfUnfinished()
    }

    /// Handles a message that was acknowledged on receipt, and that its only reader has not read. If a matching reader
    /// was added later, passes the message to that reader. Otherwise, keeps the message, or reports its loss. If the
    /// client has ended, drops the message.
    private func keepUnread(_ message: ReceivedMessage, of leaver: Reader) {
        let end = loop.now.advanced(by: timeToKeep)
        guard !state.pointee.hasEnded, !give(message, until: end, leftBy: leaver) else { return }
        if timeToKeep > .zero { return keepOn(message, until: end) }
        guard !isKeptByBroker(message) else { return }
        tellGivenUp(
            message,
            "the reader ended before the message was read, and the message was not kept. "
                + "Set messagePersistenceTTLSeconds, or read with acknowledge: .afterProcessing.")
    }

    /// Keeps an acknowledged message until `end`; `nil` means no limit. The message is kept in the store, or in memory
    /// if there is no store or the store is full. A reader that is added before the message is stored also receives the
    /// message.
    private func keepOn(_ message: ReceivedMessage, until end: ContinuousClock.Instant?) {
        let message = message.ticketed(nil).detached()
        let lifetime = end.map { loop.now.duration(to: $0) }
        let lastReader = state.pointee.lastSerial
        let isStored = rows?.keep(message, packetID: nil, for: lifetime, isNew: false) { [weak self] outcome in
            guard let self else { return }
            if case .success = outcome { rowAppeared(message.topic, after: lastReader) }
            if outcome.isRefusal, !give(message, until: end, after: lastReader) { keepInMemory(message, until: end) }
        }
        if isStored != true { keepInMemory(message, until: end) }
    }

    private func keepInMemory(_ message: ReceivedMessage, until end: ContinuousClock.Instant?) {
        if !state.pointee.kept.keep(message, until: end) { tellNoReader(message) }
    }

    /// Removes the kept messages whose end time has passed, from memory and from the store.
    func removeExpired() {
        loop.preconditionOnLoop()
        for message in state.pointee.kept.removeExpired(now: loop.now) { tellNoReader(message) }
        rows?.removeExpired()
    }

    /// Keeps a message whose topic has no reader, or reports its loss. Returns `true` if the message must not be
    /// acknowledged yet, because it is being stored.
    func keep(
        _ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan, _ handle: IncomingMessage.Handle?
    ) -> Bool {
        guard marks.qos != .zero else { return false }
        let message = ReceivedMessage(
            page: single(payload, marks, properties), index: 0, arrival: state.pointee.lastSerial, ticket: nil)
        guard timeToKeep > .zero else {
            tellNoReader(message)
            return false
        }
        if let rows, let handle {
            // Store the unfinished messages of this topic first, because they arrived earlier.
            storeUnfinished(state.pointee.kept.takeUnfinished(topic: message.topic), in: rows)
            if store(message, handle, in: rows) { return true }
        } else if state.pointee.kept.keep(message, until: loop.now.advanced(by: timeToKeep)) {
            return false
        }
        tellNoReader(message)
        return false
    }

    private func store(_ message: ReceivedMessage, _ handle: IncomingMessage.Handle, in rows: DurableInbox) -> Bool {
        let lastReader = state.pointee.lastSerial
        return rows.keep(message, packetID: handle.storedID, for: timeToKeep) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success: dependencies.confirm(handle)
            case .failure(let error) where outcome.isRefusal:
                if giveRefused(message, handle, after: lastReader) { return }
                // Drop the message instead of waiting for room in the store, because later messages can be acknowledged
                // only after this message.
                tellNoReader(message, cause: error)
                dependencies.confirm(handle)
            case .failure: break
            }
        }
    }

    /// Handles a message that the store refused. Passes the message to a reader that was added in the meantime. Returns
    /// `false` if no reader takes the message.
    private func giveRefused(
        _ message: ReceivedMessage, _ handle: IncomingMessage.Handle, after lastReader: Int
    ) -> Bool {
        guard isNeeded(handle) else { return false }
        let ticket = AcknowledgementTicket(.delivery(handle), readers: 1, done: dependencies.finished)
        return give(message.ticketed(ticket), after: lastReader)
    }

    private func tellNoReader(_ message: ReceivedMessage, cause: CourierError? = nil) {
        guard message.qos != .zero else { return }
        let remedy =
            cause == nil
            ? "the message was not kept. Read the topic, unsubscribe, or raise messagePersistenceTTLSeconds, "
                + "limits.maximumKeptMessages or limits.maximumKeptBytes."
            : "the message store has no room. Read the topic, unsubscribe, or raise the limits of the store."
        tellGivenUp(message, "no reader reads this topic, and \(remedy)", cause: cause)
    }

    private func tellGivenUp(_ message: ReceivedMessage, _ reason: String, cause: CourierError? = nil) {
        let text = "A message on \(message.topic.quoted()) was dropped: \(reason)"
        guard events.isHeard else { return warn(text) }
        dependencies.tell(
            .messageReceiveFailure(
                topic: message.topic, error: CourierError(.noReader, text, cause: cause),
                sizeBytes: message.byteCount))
    }

    /// Reports a message that was skipped, because its packet is larger than `limit` bytes.
    func skipped(_ message: SkippedMessage, limit: Int) {
        loop.preconditionOnLoop()
        let topic = String(decoding: message.topic, as: UTF8.self)
        let text =
            "A message on \(topic.quoted()) was dropped: "
            + "the packet has \(message.packetSize) bytes, but the limit is \(limit). "
            + "Raise MQTTClientConfig.limits.maximumPacketSize, or let publishers send smaller messages."
        guard events.isHeard else { return warn(text, \.skipped) }
        dependencies.tell(
            .messageReceiveFailure(
                topic: topic, error: CourierError(.malformedPacket, text), sizeBytes: message.payloadSize))
    }

    /// Counts QoS 0 messages that were dropped because the buffer of a reader was full. Logs a line if the reader has
    /// the default buffer or the policy `pause`, because then the app did not choose to lose messages.
    func dropped(_ count: Int, by reader: Reader) {
        droppedCount.add(count, ordering: .relaxed)
        let buffer = reader.queue.buffer
        guard buffer == ReadBuffer() || buffer.overflow == .pause else { return }
        let topics = reader.filter.map { "on \($0.string.quoted())" } ?? "of all topics"
        warn(
            "Messages of QoS 0 were dropped, because a reader \(topics) is too slow "
                + "and the reader's buffer of \(buffer.limit) messages or \(buffer.byteLimit >> 20) MiB is full. "
                + "metrics.droppedCount counts dropped messages. Read faster, set another ReadBuffer, or publish with QoS 1.",
            \.dropped)
    }

    /// Logs that stored messages have expired before a reader received them.
    func rowsExpired(_ count: Int) {
        dependencies.warn(
            "\(count) stored messages expired before a reader took them. "
                + "Read the topics of these messages, unsubscribe, or raise messagePersistenceTTLSeconds.")
    }

    private func warn(_ text: String) { warn(text, \.unread) }

    /// Logs `text`, which is about messages that could not be used. Logs at most one such line in each
    /// `warningInterval`.
    func warnOfUndecodable(_ text: String) {
        loop.preconditionOnLoop()
        warn(text, \.undecodable)
    }

    private func warn(_ text: String, _ kind: WritableKeyPath<LastWarnings, ContinuousClock.Instant?>) {
        var last = state.pointee.lastWarnings ?? LastWarnings()
        if let before = last[keyPath: kind], loop.now < before.advanced(by: Self.warningInterval) { return }
        last[keyPath: kind] = loop.now
        state.pointee.lastWarnings = last
        dependencies.warn(text)
    }
}

/// Collects the messages that the store refused. After the store has answered for every message, passes the refused
/// messages to `done` in their original order.
private final class RefusedMessages {
    private var messages: [ReceivedMessage?]
    private var openCount: Int
    private let done: ([ReceivedMessage]) -> Void

    init(_ count: Int, _ done: @escaping ([ReceivedMessage]) -> Void) {
        messages = Array(repeating: nil, count: count)
        openCount = count
        self.done = done
    }

    /// Records the store's answer for the message at `index`. `refused` is the message if the store refused it,
    /// otherwise `nil`.
    func settle(_ index: Int, _ refused: ReceivedMessage?) {
        openCount -= 1
        messages[index] = refused
        guard openCount == 0 else { return }
        let refused = messages.compactMap { $0 }
        if !refused.isEmpty { done(refused) }
    }
}

extension IncomingMessage.Handle {
    /// The packet id that identifies a repetition of a QoS 2 message; `nil` at QoS 1.
    fileprivate var storedID: UInt16? { qos == .exactlyOnce ? packetID.rawValue : nil }
}
