import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Messages that no reader has: they wait for one, or are given up, which is told.
extension MessageDistributor {
    /// How long the broker waits for the acknowledgement of a message that a loop has left unfinished, 10 s. After that the
    /// message waits in the store, or in memory where there is none: brokers send only so many messages before those, and
    /// acknowledgements go in their order ([MQTT-4.6.0-2]), so that nothing else would come any more.
    static let unfinishedPatience = Duration.seconds(10)

    /// How often the log is told at most that a message was given up while nobody listens to events, once a minute.
    static let warningInterval = Duration.seconds(60)

    /// Gives a new reader what was kept for it.
    func pushKept(to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        var slices: [MessageSlice] = []
        for (message, end) in state.pointee.kept.take(reader.filter) {
            let ticket: AcknowledgementTicket?
            switch reader.mode {
            case .afterProcessing:
                ticket =
                    message.ticket
                    ?? AcknowledgementTicket(.kept(until: end), readers: 1, done: surroundings.finished)
            case .onReceipt:
                ticket = nil
                acknowledge(message)
            }
            slices.append(MessageSlice(ReceivedMessage(page: message.page, index: message.index, ticket: ticket)))
        }
        if !slices.isEmpty { push(&slices, to: id) }
    }

    /// Keeps what a reader has left unfinished for the next one.
    func keepUnfinished(_ messages: [ReceivedMessage]) {
        let end = loop.now.advanced(by: Self.unfinishedPatience)
        for message in messages {
            switch message.ticket?.receipt {
            case .row(let row): rows?.giveBack(row)
            case .delivery: if !state.pointee.kept.keepUnfinished(message, until: end) { acknowledge(message) }
            case .kept(let end): keepOn(message, until: end)
            case nil: break
            }
        }
        setUnfinishedTimer()
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

    /// Lets messages wait where the broker need not wait for them. What can not be kept so is not acknowledged.
    private func finishUnfinished() {
        if let rows {
            storeUnfinished(state.pointee.kept.removeUnfinished(now: loop.now), in: rows)
        } else {
            let later = loop.now.advanced(by: Self.unfinishedPatience)
            let (finished, areAll) = state.pointee.kept.finishUnfinished(now: loop.now, orUntil: later)
            for message in finished { acknowledge(message) }
            if !areAll { warnOfUnfinished() }
        }
    }

    private func warnOfUnfinished() {
        warn(
            "Messages that a loop has left unfinished hold up others: there is no room to keep more; read their topics, "
                + "or raise maximumKeptMessages.")
    }

    private func storeUnfinished(_ messages: [ReceivedMessage], in rows: DurableInbox) {
        guard !messages.isEmpty else { return }
        let refused = RefusedMessages(messages.count) { [weak self] in self?.putBack($0) }
        let lastReader = state.pointee.lastSerial
        for (index, message) in messages.enumerated() {
            guard case .delivery(let handle)? = message.ticket?.receipt else {
                refused.settle(index, nil)
                continue
            }
            // The id of a session that is gone means another message by now.
            let id = surroundings.awaits(handle) ? handle.storedID : nil
            let isTaken = rows.keep(message, packetID: id, until: nil, isNew: false) { [weak self] outcome in
                guard let self else { return }
                if case .success = outcome {
                    acknowledge(message)
                    rowAppeared(message.topic, after: lastReader)
                }
                // At QoS 1 the broker sends it again, if it does not wait for an answer any more.
                let isNeeded = message.qos == .two || surroundings.awaits(handle)
                refused.settle(index, outcome.isRefusal && isNeeded ? message : nil)
            }
            if !isTaken { refused.settle(index, message) }
        }
    }

    /// Unfinished messages could not be stored: they wait on, and so does the broker.
    private func putBack(_ messages: [ReceivedMessage]) {
        state.pointee.kept.putBack(messages, until: loop.now.advanced(by: Self.unfinishedPatience))
        setUnfinishedTimer()
        warnOfUnfinished()
    }

    /// This reader's part of a message's acknowledgement is done.
    private func acknowledge(_ message: ReceivedMessage) {
        if let ticket = message.ticket { AcknowledgementPart(ticket).acknowledge() }
    }

    /// Keeps a message that the broker waits for no more.
    private func keepOn(_ message: ReceivedMessage, until end: ContinuousClock.Instant?) {
        let message = ReceivedMessage(page: message.page, index: message.index, ticket: nil)
        if !state.pointee.kept.keep(message, until: end) { tellNoReader(message) }
    }

    /// Forgets the kept messages whose time is over.
    func removeExpired() {
        loop.preconditionOnLoop()
        for message in state.pointee.kept.removeExpired(now: loop.now) { tellNoReader(message) }
        rows?.removeExpired()
    }

    /// Nobody reads this topic: the message is kept if it may be, and its loss is told otherwise. Says whether its
    /// acknowledgement waits until it is stored.
    func keep(
        _ payload: RawSpan, _ marks: MessageMarks, _ properties: PacketProperties, _ handle: IncomingMessage.Handle?
    ) -> Bool {
        guard marks.qos != .zero else { return false }
        let message = ReceivedMessage(page: single(payload, marks, properties), index: 0, ticket: nil)
        guard timeToKeep > .zero else {
            tellNoReader(message)
            return false
        }
        if let rows, let handle {
            // What was left of this topic comes before it.
            storeUnfinished(state.pointee.kept.removeUnfinished(topic: message.topic), in: rows)
            if store(message, handle, in: rows) { return true }
        } else if state.pointee.kept.keep(message, until: loop.now.advanced(by: timeToKeep)) {
            return false
        }
        tellNoReader(message)
        return false
    }

    private func store(_ message: ReceivedMessage, _ handle: IncomingMessage.Handle, in rows: DurableInbox) -> Bool {
        let end = Date().addingTimeInterval(timeToKeep / .seconds(1))
        return rows.keep(message, packetID: handle.storedID, until: end) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success: surroundings.confirm(handle)
            case .failure(let error) where outcome.isRefusal:
                // Waiting for room, it would hold up the acknowledgements of all that comes after it.
                tellNoReader(message, cause: error)
                surroundings.confirm(handle)
            case .failure: break
            }
        }
    }

    private func tellNoReader(_ message: ReceivedMessage, cause: CourierError? = nil) {
        guard message.qos != .zero else { return }
        let remedy =
            cause == nil
            ? "it was not kept; read it, unsubscribe, or raise messagePersistenceTTLSeconds or maximumKeptMessages."
            : "the message store has no room for it; read it, unsubscribe, or raise the limits of the store."
        let text = "A message on \(message.topic.quoted()) was given up: nobody reads this topic, and \(remedy)"
        guard events.isListenedTo else { return warn(text) }
        surroundings.tell(
            .messageReceiveFailure(
                topic: message.topic, error: CourierError(.noReader, text, cause: cause),
                sizeBytes: message.byteCount))
    }

    /// The time of stored messages was over before anybody read them.
    func rowsExpired(_ count: Int) {
        surroundings.warn(
            "\(count) stored messages were given up: nobody has read them in the time for which they are kept; read "
                + "their topics, unsubscribe, or raise messagePersistenceTTLSeconds.")
    }

    private func warn(_ text: String) {
        if let last = state.pointee.lastWarning, loop.now < last.advanced(by: Self.warningInterval) { return }
        state.pointee.lastWarning = loop.now
        surroundings.warn(text)
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
