import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

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
        /// messages wait until then.
        var catchUp: CatchUp?
    }

    /// The progress of one reader through the rows of the store.
    struct CatchUp {
        /// Distinguishes this progress from the progress of an earlier reader with the same id.
        let serial: Int
        var last: StoredMessage.ID?
        /// True if another reader has left a stored message unfinished. This message may be before `last`, so the next
        /// read starts at the first row.
        var startsAnew = false
        var isReading = false
        /// True if a row was added that the running read may miss. Then another read follows the running read.
        var isOutdated = false
    }

    /// The times of the last log lines, one for each kind of message. The kinds are messages without a reader
    /// (`unread`), unusable messages (`undecodable`) and too large messages (`skipped`).
    struct LastWarnings {
        var unread: ContinuousClock.Instant?
        var undecodable: ContinuousClock.Instant?
        var skipped: ContinuousClock.Instant?
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
        /// True while the client continues to read although the queue of a reader is full, because it waits for a
        /// response of the broker.
        var isOverrun = false
        /// True if too many messages or bytes wait for a reader, usually twice the limit of its queue. If `isOverrun`
        /// is also `true`, arriving messages are not acknowledged. The broker then reaches its limit of unacknowledged
        /// messages, and stops sending.
        var isOverfull = false
        /// The handles of messages that are acknowledged when no reason to pause reading remains.
        var withheld: [IncomingMessage.Handle] = []
        /// The tickets of messages that some readers acknowledge after processing, and other readers on receipt. The
        /// distributor counts as one more reader of each ticket until no reason to pause reading remains.
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
        /// Acknowledges a message that is stored. At QoS 2, its packet id is stored, too.
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
        // No other code uses the pointer now.
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

    /// Removes a reader. Keeps the messages that the reader has not acknowledged or not read for the next reader.
    /// `left` contains such messages from the reader's queue.
    func remove(_ id: ReaderID, _ left: [ReceivedMessage]) {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, let reader = state.pointee.readers[id] else { return }
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
    }

    /// Removes and returns a reader. The reader can still take the messages in its queue. Later, the caller must call
    /// ``keepUnfinished(_:of:)`` with the messages that the reader has not finished.
    func retire(_ id: ReaderID) -> Reader? {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, let reader = state.pointee.readers[id] else { return nil }
        finishPage()
        if reader.catchUp == nil { pushShare(to: id) }
        remove(id, [])
        return reader
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
        // At the start of the next connection, reading is not paused. It is paused when a full queue gets another
        // message.
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

    /// Adds an arrived message to `shares` for each of its readers, or keeps it if it has no reader. If the message is
    /// a copy that no reader needs, it is acknowledged and dropped.
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

    private func endOverrun() {
        state.pointee.isOverfull = false
        guard state.pointee.isOverrun else { return }
        state.pointee.isOverrun = false
        setAcknowledgements()
        var withheld: [IncomingMessage.Handle] = []
        swap(&withheld, &state.pointee.withheld)
        if !withheld.isEmpty { dependencies.acknowledge(withheld) }
        var tickets: [AcknowledgementTicket] = []
        swap(&tickets, &state.pointee.withheldTickets)
        for ticket in tickets { AcknowledgementPart(ticket).acknowledge() }
    }

    private var isWithholding: Bool { state.pointee.isOverrun && state.pointee.isOverfull }

    private func acknowledge(_ handle: IncomingMessage.Handle) {
        guard isWithholding else { return dependencies.acknowledge([handle]) }
        state.pointee.withheld.append(handle)
    }

    private func setAcknowledgements() {
        dependencies.setAcknowledgesOnCommand(state.pointee.afterProcessingCount > 0 || state.pointee.isOverrun)
    }

    /// Decides which readers take this copy of a message, and removes the other readers from `lastReaders`. The broker
    /// may send one copy for each matching subscription. `copy` has the identifiers of the subscriptions that this copy
    /// was sent for.
    ///
    /// Returns `true` if the copy is not needed:
    /// - The message has readers, and all of them take another copy.
    /// - The message has no reader, the copy would be kept (`isKept`), and another copy arrived before.
    private func isSpare(_ copy: [UInt32], _ payload: RawSpan, isKept: Bool) -> Bool {
        guard !copy.isEmpty else { return false }
        finishRun()
        // Look up the readers again for the next copy, because it may have other readers.
        state.pointee.lastIsValid = false
        let readers = state.pointee.lastReaders
        let subscriptions = dependencies.subscriptions()
        var twin: Bool?
        state.pointee.lastReaders.removeAll { id in
            switch subscriptions?.claim(of: state.pointee.readers[id]?.filter ?? nil, on: copy) ?? .first {
            case .taken: return false
            case .left: return true
            case .first:
                let isTwin = twin ?? isTwin(copy, payload)
                twin = isTwin
                return isTwin
            }
        }
        if !readers.isEmpty { return state.pointee.lastReaders.isEmpty }
        guard isKept, (subscriptions?.claim(of: nil, on: copy) ?? .first) == .first else { return false }
        return isTwin(copy, payload)
    }

    /// Returns the properties without the subscription identifiers that the client assigned. The identifiers that the
    /// app chose remain.
    private func ownProperties(of properties: RawSpan, with identifiers: [UInt32]) -> [UInt8] {
        let chosen = dependencies.subscriptions()?.chosenIdentifiers(of: identifiers) ?? []
        return properties.withUnsafeBytes { bytes in
            receivedPropertyDecoder.publishProperties(in: bytes) { chosen.contains($0) }
        }
    }

    private func isTwin(_ copy: [UInt32], _ payload: RawSpan) -> Bool {
        var recent = state.pointee.recentCopies ?? RecentCopies()
        state.pointee.recentCopies = nil
        defer { state.pointee.recentCopies = recent }
        return recent.isTwin(state.pointee.lastTopicString, payload, for: copy)
    }

    /// Empties `recentCopies`, because the subscriptions have changed. From now on, the broker may send other copies of
    /// a message.
    func subscriptionsChanged() {
        loop.preconditionOnLoop()
        state.pointee.recentCopies = nil
    }

    /// Makes a ticket for those readers of the arrived message that acknowledge after processing; returns `nil` if
    /// there are none.
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

    /// Adds a message to the page.
    private func add(
        _ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan, _ ticket: AcknowledgementTicket?
    ) {
        if ticket != nil { finishRun() }
        if !state.pointee.lastTopicIsOnPage {
            state.pointee.page.use(topic: state.pointee.lastTopicString)
            state.pointee.lastTopicIsOnPage = true
            state.pointee.byteCount += state.pointee.lastTopicByteCount
        }
        let index = state.pointee.page.append(payload, marks, properties)
        let byteCount = payload.byteCount + properties.byteCount
        state.pointee.run.append(index, byteCount: byteCount, isDisposable: marks.qos == .zero)
        state.pointee.byteCount += byteCount + MemoryLayout<MessagePage.Entry>.stride
        guard ticket != nil else { return }
        state.pointee.byteCount += MessageSlice.ticketByteCount
        finishRun(ticket)
    }

    /// Adds the messages in `run`, which have the same topic, to `shares` for each reader of the topic.
    private func finishRun(_ ticket: AcknowledgementTicket? = nil) {
        let run = state.pointee.run
        guard !run.indexes.isEmpty else { return }
        state.pointee.run = MessageRun()
        for id in state.pointee.lastReaders {
            touch(id)
            state.pointee.shares[id].append(run, ticket: self.ticket(ticket, for: id))
        }
    }

    private func touch(_ id: ReaderID) {
        guard !state.pointee.shares[id].isTouched else { return }
        state.pointee.shares[id].isTouched = true
        state.pointee.touched.append(id)
    }

    /// Adds a message to `shares` for each reader of the last topic. The message has a page (memory block) of its own.
    private func add(_ page: MessagePage, _ ticket: AcknowledgementTicket?) {
        finishPage()
        for id in state.pointee.lastReaders {
            touch(id)
            let message = ReceivedMessage(
                page: page, index: 0, arrival: state.pointee.lastSerial, ticket: self.ticket(ticket, for: id))
            state.pointee.shares[id].append(MessageSlice(message))
        }
        state.pointee.byteCount += page.byteCount
    }

    /// Returns the ticket if the reader acknowledges after processing; otherwise `nil`.
    private func ticket(_ ticket: AcknowledgementTicket?, for id: ReaderID) -> AcknowledgementTicket? {
        ticket != nil && state.pointee.readers[id]?.mode == .afterProcessing ? ticket : nil
    }

    func single(_ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan) -> MessagePage {
        MessagePage(
            payload.withUnsafeBytes { Data($0) }, topic: state.pointee.lastTopicString, qos: marks.qos,
            packetID: marks.packetID, isRetained: marks.isRetained, isDuplicate: marks.isDuplicate,
            isShared: marks.isShared, encodedProperties: properties.withUnsafeBytes { [UInt8]($0) },
            decode: MessageProperties.decode)
    }

    /// Finishes the page of arrived messages. For each reader, makes a slice of the reader's messages on the page.
    private func finishPage() {
        guard !state.pointee.page.isEmpty else { return }
        finishRun()
        let page = state.pointee.page.finish()
        state.pointee.lastTopicIsOnPage = false
        let serial = state.pointee.lastSerial
        for id in state.pointee.touched { state.pointee.shares[id].finish(page, arrival: serial) }
    }

    /// Moves the arrived messages from `shares` to the queues of the readers. A reader that still reads stored messages
    /// receives the arrived messages later.
    private func handOver() {
        tellArrivals()
        finishPage()
        state.pointee.byteCount = 0
        var touched: [ReaderID] = []
        swap(&touched, &state.pointee.touched)
        for id in touched {
            state.pointee.shares[id].isTouched = false
            guard let reader = state.pointee.readers[id], reader.catchUp != nil else {
                pushShare(to: id)
                continue
            }
            if state.pointee.isOverrun {
                let buffer = reader.queue.buffer
                let isInBytes = state.pointee.shares[id].finishedByteCount < buffer.byteLimit
                if !isInBytes || state.pointee.shares[id].finishedCount >= buffer.limit {
                    state.pointee.isOverfull = true
                    state.pointee.shares[id].dropNewest(beyond: isInBytes ? buffer.limit : 0)
                }
            }
            dependencies.setReadingPaused(true)  // Pause again, because reading is not paused on a new connection.
        }
        touched.removeAll(keepingCapacity: true)
        if state.pointee.touched.isEmpty { swap(&touched, &state.pointee.touched) }
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

    func pushShare(to id: ReaderID) {
        var slices = state.pointee.shares[id].take()
        push(&slices, to: id)
        state.pointee.shares[id].reuse(&slices)
    }

    func push(_ batch: inout [MessageSlice], to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        let pushed = reader.queue.push(&batch, isOverrun: state.pointee.isOverrun)
        if pushed.isEnded {
            // The queue has ended, so the messages stay in `shares`. ``remove(_:_:)`` will keep them for the next
            // reader.
            for message in batch.worthKeeping where pushed.isClosed || message.ticket != nil {
                state.pointee.shares[id].append(MessageSlice(message))
            }
            return batch.removeAll()
        }
        guard pushed.isFull else { return }
        if pushed.isOverfull { state.pointee.isOverfull = true }
        if reader.isBehind { return dependencies.setReadingPaused(true) }
        state.pointee.readers[id]?.isBehind = true
        fellBehind()
    }

    /// Adds a reason to pause reading from the broker, and pauses reading. Pauses even if there is another reason
    /// already, because reading is not paused at the start of a new connection.
    func fellBehind() {
        state.pointee.behindCount += 1
        dependencies.setReadingPaused(true)
    }

    /// If `isCongested` is `true`, pauses reading from the broker, because too many bytes wait to be stored. If
    /// `isCongested` is `false`, removes this reason for the pause.
    private func storeCongested(_ isCongested: Bool) {
        defer { state.pointee.isStoreCongested = isCongested }
        guard isCongested else { return caughtUp() }
        // Pause at each report, because reading is not paused at the start of a new connection.
        if state.pointee.isStoreCongested { dependencies.setReadingPaused(true) } else { fellBehind() }
    }

    func caughtUp() {
        state.pointee.behindCount -= 1
        guard state.pointee.behindCount == 0 else { return }
        endOverrun()
        dependencies.setReadingPaused(false)
    }
}
