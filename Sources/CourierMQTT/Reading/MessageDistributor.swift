import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Finds the readers of each received message, and adds the messages to the readers' queues in batches.
///
/// Safe to share between threads: all state is used on the client's event loop only, and most methods check this.
final class MessageDistributor: @unchecked Sendable {
    /// The index of a reader in `State.readers`. The index is reused after the reader was removed.
    typealias ReaderID = Int

    /// A reader of messages, and its progress.
    struct Reader {
        let queue: ReaderQueue
        let mode: AcknowledgementMode
        /// The filter of the reader; `nil` for every topic.
        let filter: TopicFilter?
        /// A number that is higher than the serial numbers of all earlier readers. It distinguishes a reader from an
        /// earlier reader with the same id.
        let serial: Int
        /// The sequence number of the last SUBSCRIBE or UNSUBSCRIBE before the reader was added. A SUBSCRIBE with a
        /// higher number may make the broker send retained messages to the reader.
        let lastRequest: UInt64
        var isBehind = false
        /// The progress of reading stored messages; `nil` if the reader has received all of them. Newly arrived
        /// messages wait until the reader has received the stored messages.
        var catchUp: CatchUp?
    }

    /// A catch-up: the progress of one reader through the rows of the store.
    struct CatchUp {
        /// A number that only this catch-up has. It shows whether stored messages were read for this reader, or for an
        /// earlier reader with the same id.
        let serial: Int
        var last: StoredMessage.ID?
        /// True if another reader has left a stored message unfinished. This message may come before `last`, the last
        /// row that was read, so the next read starts at the first row.
        var startsAnew = false
        var isReading = false
        /// True if a row was added that the running read of the store may miss. Then another read follows.
        var isOutdated = false
    }

    /// The times of the last log lines, one for each kind of message: messages without a reader (`unread`), unusable
    /// messages (`undecodable`), too large messages (`skipped`), and messages for a full buffer (`dropped`).
    struct LastWarnings {
        var unread: ContinuousClock.Instant?
        var undecodable: ContinuousClock.Instant?
        var skipped: ContinuousClock.Instant?
        var dropped: ContinuousClock.Instant?
    }

    /// The mutable state of the distributor. The state is behind a pointer, because Swift checks each access to a
    /// property of a class at run time. These checks would run several times for each message.
    struct State: ~Copyable {
        var tree = TopicTree()
        var readers: [Reader?] = []
        /// The arrived messages of each reader that are not in its queue yet. The index is the reader's id.
        var shares: [ReaderShare] = []
        var free: [ReaderID] = []
        /// The readers without a filter, which receive every message.
        var unfiltered: [ReaderID] = []
        /// The readers whose element of `shares` has new messages.
        var touched: [ReaderID] = []
        /// The memory block (`MessagePage`) that collects the messages that are arriving now.
        var page = PageWriter()
        /// The newest messages of `page`. These messages have the same topic, and are not in `shares` yet.
        var run = MessageRun()
        /// The approximate memory of the messages that have arrived since the last delivery to the readers' queues, in
        /// bytes.
        var byteCount = 0
        var kept: KeptMessages
        /// The topic of the last arrived message, as words of eight bytes. The next fields contain its length in bytes,
        /// its text and its readers.
        var lastTopic: [UInt64] = []
        var lastTopicByteCount = 0
        var lastTopicString = ""
        var lastReaders: [ReaderID] = []
        var lastIsValid = false
        /// True if the topic that was last added to `page` is the topic of the last arrived message.
        var lastTopicIsOnPage = false
        /// True if the client has ended.
        var hasEnded = false
        /// The number of reasons to pause reading from the broker: readers whose queue is full, readers that still read
        /// stored messages, and a congested store.
        var behindCount = 0
        var isStoreCongested = false
        /// True during a pause in reading from the broker, after the end of the network read in which the pause began.
        /// Messages can still arrive, because the client reads for short times while it awaits a response of the
        /// broker.
        var isOverrun = false
        /// True if too many messages or bytes wait for a reader, usually twice the limit of its queue. If `isOverrun`
        /// is also `true`, arriving messages are not acknowledged. The broker then reaches its limit of unacknowledged
        /// messages, and stops sending.
        var isOverfull = false
        /// The handles of messages whose acknowledgement must wait until the pause in reading ends; see `isOverfull`.
        var withheld: [IncomingMessage.Handle] = []
        /// The tickets of messages that some readers acknowledge after processing, and other readers on receipt. The
        /// distributor acknowledges these messages on behalf of the other readers when the pause in reading ends.
        var withheldTickets: [AcknowledgementTicket] = []
        var lastSerial = 0
        /// The value of `lastSerial` when the session began. A message with a lower `arrival` belongs to an earlier
        /// session.
        var sessionSerial = 0
        /// The messages that arrived recently, to detect further copies. The broker may send one copy of a message for
        /// each matching subscription.
        @BoxedOptional var recentCopies: RecentCopies?
        var afterProcessingCount = 0
        /// The timer for the earliest end time of the messages in `kept` that await their acknowledgement; `nil` if
        /// there is no such message.
        @BoxedOptional var unfinishedTimer: TimerToken?
        @BoxedOptional var lastWarnings: LastWarnings?
        /// The events of arrived messages that are not reported yet. All of them are reported in one call, before any
        /// other event.
        var arrivals: [CourierEventType] = []
    }

    /// The functions of the client that the distributor needs. All functions except `finished` are called on the event
    /// loop.
    struct Dependencies: Sendable {
        /// Pauses (`true`) or resumes (`false`) reading from the broker.
        var setReadingPaused: @Sendable (Bool) -> Void
        /// True while reading from the broker is paused.
        var isReadingPaused: @Sendable () -> Bool
        /// Acknowledges messages to the broker.
        var acknowledge: @Sendable ([IncomingMessage.Handle]) -> Void
        /// True while the message with this handle still awaits its acknowledgement.
        var awaits: @Sendable (IncomingMessage.Handle) -> Bool = { _ in true }
        /// Acknowledges a message after the store has saved or refused it. Does not store the packet id of a QoS 2
        /// message, because the store saves the packet id together with the message.
        var confirm: @Sendable (IncomingMessage.Handle) -> Void
        /// Receives the ticket of a message that all readers have finished. Called from any thread.
        var finished: @Sendable (AcknowledgementTicket) -> Void
        /// If `true`, an arriving message is acknowledged only when the distributor asks for it. If `false`, and the
        /// client has no message store, arriving messages are acknowledged automatically.
        var setAcknowledgesOnCommand: @Sendable (Bool) -> Void
        /// The subscriptions; `nil` if the client was released.
        var subscriptions: @Sendable () -> SubscriptionKeeper?
        /// Reports an event.
        var tell: @Sendable (CourierEventType) -> Void
        /// Reports events, and empties the list.
        var tellAll: @Sendable (inout [CourierEventType]) -> Void
        /// Writes a line to the log.
        var warn: @Sendable (String) -> Void = { _ in }
    }

    /// The largest number of arrival events that are reported together, under one lock.
    private static let arrivalLimit = 1_024
    /// The capacity of `arrivals` that is kept after a read from the network. If the capacity is larger, the memory is
    /// freed.
    private static let keptArrivals = 128

    let loop: EventLoop
    let events: EventHub
    let timeToKeep: Duration
    let dependencies: Dependencies
    let state: UnsafeMutablePointer<State>
    /// The number of messages of QoS 0 that were dropped, because the buffer of a reader was full.
    let droppedCount = Atomic(0)
    /// The stored messages that wait for a reader; `nil` if the client has no message store.
    let rows: DurableInbox?

    init(
        on loop: EventLoop, events: EventHub, timeToKeep: Duration, maximumKept: StoreSize, rows: DurableInbox? = nil,
        _ dependencies: Dependencies
    ) {
        self.rows = rows
        self.loop = loop
        self.events = events
        self.timeToKeep = timeToKeep
        self.dependencies = dependencies
        state = .allocate(capacity: 1)
        state.initialize(to: State(kept: KeptMessages(limit: maximumKept.rows, byteLimit: maximumKept.bytes)))
        rows?.appeared = { [weak self] in self?.rowAppeared($0) }
        rows?.expired = { [weak self] in self?.rowsExpired($0) }
        rows?.onCongestion = { [weak self] in self?.storeCongested($0) }
    }

    deinit {
        // Free the state now, because no other code uses the pointer any more.
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Readers

    /// Adds a reader of `filter`, or of all topics if `filter` is `nil`. The reader receives the matching kept messages
    /// first. If the client has ended, finishes the queue and returns `nil`.
    func add(_ queue: ReaderQueue, _ filter: TopicFilter?, _ mode: AcknowledgementMode) -> ReaderID? {
        loop.preconditionOnLoop()
        guard !state.pointee.hasEnded else {
            queue.finish()
            return nil
        }
        finishPage()
        state.pointee.lastSerial += 1
        let reader = Reader(
            queue: queue, mode: mode, filter: filter, serial: state.pointee.lastSerial,
            lastRequest: dependencies.subscriptions()?.lastRequest ?? 0)
        let id: ReaderID
        if let free = state.pointee.free.popLast() {
            id = free
            state.pointee.readers[id] = reader
        } else {
            id = state.pointee.readers.count
            state.pointee.readers.append(reader)
            state.pointee.shares.append(ReaderShare())
        }
        if let filter { state.pointee.tree.insert(filter, for: id) } else { state.pointee.unfiltered.append(id) }
        state.pointee.lastIsValid = false
        if mode == .afterProcessing {
            state.pointee.afterProcessingCount += 1
            if state.pointee.afterProcessingCount == 1 { setAcknowledgements() }
        }
        pushKept(to: id)
        if rows?.hasRows == true { beginCatchUp(id) }
        return id
    }

    /// Removes and returns a reader. Keeps its unread and unacknowledged messages for the next reader. `left` contains
    /// the unread and unacknowledged messages that the caller removed from the reader's queue.
    @discardableResult
    func remove(_ id: ReaderID, _ left: [ReceivedMessage]) -> Reader? {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, let reader = state.pointee.readers[id] else { return nil }
        state.pointee.readers[id] = nil
        state.pointee.free.append(id)
        if let filter = reader.filter {
            state.pointee.tree.remove(filter, for: id)
        } else {
            state.pointee.unfiltered.removeAll { $0 == id }
        }
        finishPage()
        let share = state.pointee.shares[id].take()
        state.pointee.shares[id] = ReaderShare()
        state.pointee.touched.removeAll { $0 == id }
        state.pointee.lastIsValid = false
        if reader.isBehind { caughtUp() }
        if reader.catchUp != nil { caughtUp() }
        if reader.mode == .afterProcessing {
            state.pointee.afterProcessingCount -= 1
            if state.pointee.afterProcessingCount == 0 { setAcknowledgements() }
        }
        keepUnfinished(left + share.worthKeeping, of: reader)
        return reader
    }

    /// Removes and returns a reader. The reader can still take the messages in its queue. Later, the caller must call
    /// ``keepUnfinished(_:of:)`` with the messages that the reader has not finished.
    func retire(_ id: ReaderID) -> Reader? {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, let reader = state.pointee.readers[id] else { return nil }
        finishPage()
        if reader.catchUp == nil { pushShare(to: id) }
        return remove(id, [])
    }

    /// Records that the full queue of a reader has room again. Resumes reading from the broker if no other reason for
    /// the pause remains.
    func drained(_ id: ReaderID) {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, state.pointee.readers[id]?.isBehind == true else { return }
        state.pointee.readers[id]?.isBehind = false
        caughtUp()
        if state.pointee.readers[id]?.catchUp != nil { goOn(id) }
    }

    /// Ends every loop and every publisher, because the client has ended.
    func finish() {
        loop.preconditionOnLoop()
        receivedAll()
        state.pointee.hasEnded = true
        for id in state.pointee.readers.indices where state.pointee.readers[id]?.catchUp != nil { endCatchUp(id) }
        for reader in state.pointee.readers { reader?.queue.finish() }
        state.pointee.kept.removeAll()
    }

    /// Passes all received messages to their readers, because the connection has ended, perhaps in the middle of a read
    /// from the network.
    func connectionLost() {
        loop.preconditionOnLoop()
        receivedAll()
        // End the present pause, because the next connection begins without a pause in reading. A new pause begins when
        // a full queue gets another message.
        endOverrun()
        state.pointee.kept.connectionLost()
    }

    /// Removes the kept messages, and stops reading stored messages, because the session was destroyed.
    func sessionDestroyed() {
        loop.preconditionOnLoop()
        tellArrivals()
        state.pointee.kept.removeAll()
        finishPage()
        state.pointee.lastSerial += 1
        state.pointee.sessionSerial = state.pointee.lastSerial
        for id in state.pointee.readers.indices where state.pointee.readers[id]?.catchUp != nil { endCatchUp(id) }
    }

    // MARK: Messages

    /// Adds an arrived message to the element of `shares` for each of its readers. If the message has no reader, keeps
    /// it. If the message is a copy that no reader needs, acknowledges and drops it.
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, _ properties: RawSpan) {
        if !isLastTopic(topic) { look(up: topic) }
        guard message.view.hasSubscriptionIdentifier else { return take(message, payload, properties) }
        let identifiers = properties.withUnsafeBytes { receivedPropertyDecoder.subscriptionIdentifiers(in: $0) }
        if isSpare(identifiers, payload, isKept: message.handle != nil) {
            if let handle = message.handle { dependencies.acknowledge([handle]) }
            return
        }
        ownProperties(of: properties, with: identifiers).withBytes { take(message, payload, $0) }
    }

    private func take(_ message: IncomingMessage, _ payload: RawSpan, _ properties: RawSpan) {
        if events.isListenedTo {
            state.pointee.arrivals.append(
                .messageReceive(topic: state.pointee.lastTopicString, sizeBytes: payload.byteCount))
            if state.pointee.arrivals.count >= Self.arrivalLimit { tellArrivals() }
        }
        let ticket = message.handle.flatMap { makeTicket($0) }
        let marks = MessageMarks(message, isShared: state.pointee.lastReaders.count > 1)
        if state.pointee.lastReaders.isEmpty {
            if keep(payload, marks, properties, message.handle) { return }
        } else if payload.byteCount + properties.byteCount >= MessagePage.singleByteCount {
            add(single(payload, marks, properties), ticket)
        } else {
            add(payload, marks, properties, ticket)
        }
        if let handle = message.handle, ticket == nil { acknowledge(handle) }
        if state.pointee.byteCount >= MessagePage.sharedByteCount { handOver() }
    }

    /// Passes the messages of one read from the network to the readers. Called after the last message of the read.
    func receivedAll() {
        tellArrivals()
        if state.pointee.arrivals.capacity > Self.keptArrivals { state.pointee.arrivals = [] }
        if state.pointee.byteCount > 0 { handOver() }
        if state.pointee.behindCount > 0, !state.pointee.isOverrun, dependencies.isReadingPaused() {
            state.pointee.isOverrun = true
            setAcknowledgements()
        }
    }

    /// Reports the collected events of arrived messages. Called before any other event is reported, and before readers
    /// receive the messages.
    func tellArrivals() {
        if state.pointee.arrivals.isEmpty { return }
        var arrivals: [CourierEventType] = []
        swap(&arrivals, &state.pointee.arrivals)
        dependencies.tellAll(&arrivals)
        swap(&arrivals, &state.pointee.arrivals)
    }

    private func acknowledge(_ handle: IncomingMessage.Handle) {
        guard isWithholding else { return dependencies.acknowledge([handle]) }
        state.pointee.withheld.append(handle)
    }

    /// Makes the ticket that acknowledges the arrived message. The ticket waits for those readers that acknowledge
    /// after processing. Returns `nil` if there are none.
    private func makeTicket(_ handle: IncomingMessage.Handle) -> AcknowledgementTicket? {
        let waiting = state.pointee.lastReaders.count { state.pointee.readers[$0]?.mode == .afterProcessing }
        guard waiting > 0 else { return nil }
        guard isWithholding, waiting < state.pointee.lastReaders.count else {
            return AcknowledgementTicket(.delivery(handle), readers: waiting, done: dependencies.finished)
        }
        let ticket = AcknowledgementTicket(.delivery(handle), readers: waiting + 1, done: dependencies.finished)
        state.pointee.withheldTickets.append(ticket)
        return ticket
    }

    private func isLastTopic(_ topic: RawSpan) -> Bool {
        guard state.pointee.lastIsValid, topic.byteCount == state.pointee.lastTopicByteCount else { return false }
        return topic.withUnsafeBytes { bytes in
            for index in state.pointee.lastTopic.indices
            where bytes.word(at: index * 8) != state.pointee.lastTopic[index] { return false }
            return true
        }
    }

    private func look(up topic: RawSpan) {
        finishRun()
        topic.withUnsafeBytes { bytes in
            state.pointee.lastTopic.removeAll(keepingCapacity: true)
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                state.pointee.lastTopic.append(bytes.word(at: offset))
            }
            state.pointee.lastTopicByteCount = bytes.count
            state.pointee.lastTopicString = String(decoding: bytes, as: UTF8.self)
        }
        state.pointee.lastReaders.removeAll(keepingCapacity: true)
        state.pointee.lastReaders.append(contentsOf: state.pointee.unfiltered)
        state.pointee.tree.forEachMatch(of: topic) { state.pointee.lastReaders.append($0) }
        state.pointee.lastIsValid = true
        state.pointee.lastTopicIsOnPage = false
    }
}
