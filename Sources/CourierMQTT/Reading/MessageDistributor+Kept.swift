import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Messages without a reader: they are kept for a later reader, or given up and reported.
extension MessageDistributor {
    /// How long the broker waits for the acknowledgement of a message that a loop has left unfinished, 10 s. After that the
    /// message waits in the store, or in memory where there is none: brokers send only so many messages before those, and
    /// acknowledgements go in their order ([MQTT-4.6.0-2]), so that nothing else would come any more.
    static let unfinishedPatience = Duration.seconds(10)

    /// The shortest time between two log lines about messages that were given up, or that could not be decoded, if events have no
    /// listener.
    static let warningInterval = Duration.seconds(60)

    /// Gives a new reader the messages that were kept for it.
    func pushKept(to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        push(state.pointee.kept.take(reader.filter), to: id, reader.mode)
    }

    /// Gives a reader messages that have waited for one, each until the end of its time.
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
                // The broker waits no more. What the reader does not come to waits for the next one, as it has before.
                message.acknowledge()
                let end = message.ticket == nil ? end : nil
                ticket = AcknowledgementTicket(.kept(until: end), readers: 1, done: dependencies.finished)
            }
            slices.append(MessageSlice(message.ticketed(ticket)))
        }
        guard !slices.isEmpty else { return }
        guard state.pointee.readers[id]?.catchUp != nil else { return push(&slices, to: id) }
        for slice in slices { state.pointee.shares[id].insertEarlier(slice) }  // Behind what is stored.
    }

    /// Whether the message arrived in the present session.
    private func isOfSession(_ message: ReceivedMessage) -> Bool { message.arrival >= state.pointee.sessionSerial }

    /// Gives a message to the first of the readers that have come since the one with this serial, and since the message;
    /// `false` when there is none. Earlier ones had it, or a copy of their own, or do not read it.
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

    /// The same with what a reader leaves. A retained message is not for one to whom the broker sends it by itself.
    private func give(
        _ message: ReceivedMessage, until end: ContinuousClock.Instant? = nil, leftBy leaver: Reader
    ) -> Bool {
        give(message, until: end, after: leaver.serial) { !isSent(message, to: $0) }
    }

    /// Whether the broker has the message, and sends it to a reader that came after it.
    private func isSent(_ message: ReceivedMessage, to reader: Reader) -> Bool {
        guard isKeptByBroker(message), let topic = try? TopicName(received: message.topic),
            let subscriptions = dependencies.subscriptions()
        else { return false }
        return subscriptions.bringsRetained(on: topic, to: reader.filter, after: reader.lastRequest)
    }

    /// Whether the broker keeps the message as a retained one, and sends it to new subscribers of its topic.
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

    /// Keeps the messages that a reader has left unfinished or has not read, except messages of a destroyed session. If another
    /// reader of the topic was added since and has not received them, it gets them at once.
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
                // Readers that were added since read the rows, and have received this one.
                if hasRows, firstReader(of: message.topic, after: leaver.serial) == nil {
                    topicsAfterRows.insert(message.topic)
                }
            case .kept(let end): if !give(message, until: end, leftBy: leaver) { keepOn(message, until: end) }
            case nil: keepUnread(message, of: leaver)
            }
        }
        if let rows {  // Where it waits for the next reader, it must not get before the rows that it came after.
            for topic in topicsAfterRows { storeUnfinished(state.pointee.kept.takeUnfinished(topic: topic), in: rows) }
        }
        setUnfinishedTimer()
    }

    /// Gives the rows among these messages back to the store, from which readers get them that have come since.
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

    /// Lets messages wait where the broker need not wait for them. What cannot be kept so is not acknowledged.
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
            "Messages that a loop has left unfinished hold up others: there is no room to keep more; read their topics, "
                + "or raise limits.maximumKeptMessages or limits.maximumKeptBytes.")
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
            // The id of a session that is gone means another message by now.
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

    /// Whether a message that came with this handle would be lost if we forgot it: at QoS 1 the broker sends it again,
    /// if it does not wait for an answer any more.
    private func isNeeded(_ handle: IncomingMessage.Handle) -> Bool {
        handle.qos == .exactlyOnce || dependencies.awaits(handle)
    }

    /// Unfinished messages could not be stored: a reader that has come meanwhile gets them, and without one they wait
    /// on, and so does the broker.
    private func putBack(_ messages: [ReceivedMessage], after lastReader: Int) {
        for message in messages { state.pointee.kept.storingEnded(message) }
        let left = messages.filter { isOfSession($0) && !give($0, after: lastReader) }
        guard !left.isEmpty else { return }
        let end = loop.now.advanced(by: Self.unfinishedPatience)
        for message in state.pointee.kept.putBack(left, until: end) { message.acknowledge() }
        setUnfinishedTimer()
        warnOfUnfinished()
    }

    /// Keeps a message that was acknowledged on receipt and that its only reader has not read, like a message without a reader. A
    /// reader that was added since gets it. A client that has ended keeps nothing.
    private func keepUnread(_ message: ReceivedMessage, of leaver: Reader) {
        let end = loop.now.advanced(by: timeToKeep)
        guard !state.pointee.hasEnded, !give(message, until: end, leftBy: leaver) else { return }
        if timeToKeep > .zero { return keepOn(message, until: end) }
        guard !isKeptByBroker(message) else { return }
        tellGivenUp(
            message,
            "its reader ended before it came to it, and it was not kept; set messagePersistenceTTLSeconds, or read with "
                + "acknowledge: .afterProcessing.")
    }

    /// Keeps a message that the broker waits for no more: in the store, or in memory where there is none or it is full. A
    /// reader that comes before that is known gets it.
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

    /// Forgets the kept messages whose time is over.
    func removeExpired() {
        loop.preconditionOnLoop()
        for message in state.pointee.kept.removeExpired(now: loop.now) { tellNoReader(message) }
        rows?.removeExpired()
    }

    /// Keeps a message whose topic has no reader, or reports its loss. Returns whether its acknowledgement waits until the
    /// message is stored.
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
            // Unfinished messages of this topic come before it.
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
                // Waiting for room, it would hold up the acknowledgements of all that comes after it.
                tellNoReader(message, cause: error)
                dependencies.confirm(handle)
            case .failure: break
            }
        }
    }

    /// Gives a message that the store has no room for to a reader that has come since; `false` when there is none.
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
            ? "it was not kept; read it, unsubscribe, or raise messagePersistenceTTLSeconds, limits.maximumKeptMessages "
                + "or limits.maximumKeptBytes."
            : "the message store has no room for it; read it, unsubscribe, or raise the limits of the store."
        tellGivenUp(message, "nobody reads this topic, and \(remedy)", cause: cause)
    }

    private func tellGivenUp(_ message: ReceivedMessage, _ reason: String, cause: CourierError? = nil) {
        let text = "A message on \(message.topic.quoted()) was given up: \(reason)"
        guard events.isHeard else { return warn(text) }
        dependencies.tell(
            .messageReceiveFailure(
                topic: message.topic, error: CourierError(.noReader, text, cause: cause),
                sizeBytes: message.byteCount))
    }

    /// The time of stored messages was over before anybody read them.
    func rowsExpired(_ count: Int) {
        dependencies.warn(
            "\(count) stored messages were given up: nobody has read them in the time for which they are kept; read "
                + "their topics, unsubscribe, or raise messagePersistenceTTLSeconds.")
    }

    private func warn(_ text: String) { warn(text, \.unread) }

    /// Logs that a message could not be decoded, because there is no listener for it.
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

/// Messages that there was no room for, in their order, until it is known of each.
private final class RefusedMessages {
    private var messages: [ReceivedMessage?]
    private var openCount: Int
    private let done: ([ReceivedMessage]) -> Void

    init(_ count: Int, _ done: @escaping ([ReceivedMessage]) -> Void) {
        messages = Array(repeating: nil, count: count)
        openCount = count
        self.done = done
    }

    /// Notes what became of the message at `index`: `nil` if nothing is left to do.
    func settle(_ index: Int, _ refused: ReceivedMessage?) {
        openCount -= 1
        messages[index] = refused
        guard openCount == 0 else { return }
        let refused = messages.compactMap { $0 }
        if !refused.isEmpty { done(refused) }
    }
}

extension IncomingMessage.Handle {
    /// By what a repetition of the message is known; only at QoS 2.
    fileprivate var storedID: UInt16? { qos == .exactlyOnce ? packetID.rawValue : nil }
}
