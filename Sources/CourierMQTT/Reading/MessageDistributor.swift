import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Finds the readers of every message that arrives and puts it into their queues, a batch at a time.
///
/// Safe to share: everything here is touched on the client's loop only, which each entry checks.
final class MessageDistributor: @unchecked Sendable {
    /// Names one reader.
    typealias ReaderID = Int

    struct Reader {
        let queue: ReaderQueue
        let mode: AcknowledgementMode
        /// The filter of the reader; `nil` for every topic.
        let filter: TopicFilter?
        /// Distinguishes the reader from earlier ones.
        let serial: Int
        /// The last request for a subscription before it came: with later ones the broker sends it retained messages.
        let lastRequest: UInt64
        var isBehind = false
        /// How far the reader has read stored messages. Arriving messages wait until it has read all of them.
        var catchUp: CatchUp?
    }

    /// Reads the rows of the store for one reader.
    struct CatchUp {
        /// Distinguishes it from that of an earlier reader with the same id.
        let serial: Int
        var last: StoredMessage.ID?
        /// Whether a row in front of that one was given back since.
        var startsAnew = false
        var isReading = false
        /// Whether a row has appeared that the reading under way may not have seen.
        var isOutdated = false
    }

    /// The times of the last log lines about lost messages.
    struct LastWarnings {
        var unread: ContinuousClock.Instant?
        var undecodable: ContinuousClock.Instant?
    }

    /// Behind a pointer, because the fields of a class are checked for exclusive access at run time, several times per
    /// message.
    struct State: ~Copyable {
        var tree = TopicTree()
        var readers: [Reader?] = []
        /// The messages that have arrived for each reader, and were not given to it yet.
        var shares: [ReaderShare] = []
        var free: [ReaderID] = []
        /// The readers of everything.
        var unfiltered: [ReaderID] = []
        /// The readers with something in their share.
        var touched: [ReaderID] = []
        /// The messages that have arrived since the last page was finished.
        var page = PageWriter()
        /// The messages at the end of the page that have the last topic, and are not in a reader's share yet.
        var run = MessageRun()
        /// How much has arrived that no reader was given yet.
        var byteCount = 0
        var kept: KeptMessages
        /// The topic of the last message, eight bytes at a time, and its readers.
        var lastTopic: [UInt64] = []
        var lastTopicByteCount = 0
        var lastTopicString = ""
        var lastReaders: [ReaderID] = []
        var lastIsValid = false
        /// Whether the page has this topic as its last one.
        var lastTopicIsOnPage = false
        /// Whether the client has ended.
        var hasEnded = false
        /// How many readers, and whether the store, make reading pause.
        var behindCount = 0
        var isStoreCongested = false
        /// Whether reading continues although a reader is full, because a response of the broker is awaited.
        var isOverrun = false
        /// Whether a reader has twice its limit. Arriving messages are not acknowledged then, so that the broker stops sending
        /// them.
        var isOverfull = false
        /// Messages to acknowledge when no reader is full any more.
        var withheld: [IncomingMessage.Handle] = []
        /// The same of messages that other readers acknowledge after processing, which alone does not do.
        var withheldTickets: [AcknowledgementTicket] = []
        var lastSerial = 0
        /// The serial at the beginning of the session, in the sequence of readers. Earlier messages belong to another session.
        var sessionSerial = 0
        /// The copies of messages that came for several subscriptions.
        @BoxedOptional var recentCopies: RecentCopies?
        var afterProcessingCount = 0
        /// Fires when the time of an unfinished message is over.
        @BoxedOptional var unfinishedTimer: TimerToken?
        @BoxedOptional var lastWarnings: LastWarnings?
        /// The events of messages that arrived, while nothing else has to be reported behind them.
        var arrivals: [CourierEventType] = []
    }

    /// The functions of the client that the distributor needs. All run on the loop.
    struct Dependencies: Sendable {
        /// Stops and resumes reading from the broker.
        var setReadingPaused: @Sendable (Bool) -> Void
        /// Whether reading is stopped.
        var isReadingPaused: @Sendable () -> Bool
        /// Acknowledges messages to the broker.
        var acknowledge: @Sendable ([IncomingMessage.Handle]) -> Void
        /// Whether the acknowledgement of a message still means anything.
        var awaits: @Sendable (IncomingMessage.Handle) -> Bool = { _ in true }
        /// Acknowledges a message that is stored together with what its repetition is known by.
        var confirm: @Sendable (IncomingMessage.Handle) -> Void
        /// All readers of a message are done; from any thread.
        var finished: @Sendable (AcknowledgementTicket) -> Void
        /// Says whether acknowledgements wait for readers from now on.
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

    /// The largest number of arrival events that are reported under one lock.
    private static let arrivalLimit = 1_024
    /// For how many arrivals memory is kept between reads.
    private static let keptArrivals = 128

    let loop: EventLoop
    let events: EventHub
    let timeToKeep: Duration
    let dependencies: Dependencies
    let state: UnsafeMutablePointer<State>
    /// Where messages wait for a reader that are to survive the process; `nil` where none are.
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
        // There is no other reference to the pointer, and no caller is left.
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Readers

    /// Adds a reader of `filter`, or of everything; it gets the kept messages that match first. Once the client has
    /// ended nothing comes any more: the queue is finished, and there is no reader.
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

    /// Removes a reader, and keeps for the next reader the messages that it has not acknowledged or not taken.
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

    /// Removes and returns a reader that ends when it has taken the messages that have arrived for it. ``keepUnfinished(_:of:)``
    /// follows with the messages that it leaves.
    func retire(_ id: ReaderID) -> Reader? {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, let reader = state.pointee.readers[id] else { return nil }
        finishPage()
        if reader.catchUp == nil { pushShare(to: id) }
        remove(id, [])
        return reader
    }

    /// A reader that was behind has room again.
    func drained(_ id: ReaderID) {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, state.pointee.readers[id]?.isBehind == true else { return }
        state.pointee.readers[id]?.isBehind = false
        caughtUp()
        if state.pointee.readers[id]?.catchUp != nil { goOn(id) }
    }

    /// No message will come any more: every loop and every publisher ends.
    func finish() {
        loop.preconditionOnLoop()
        receivedAll()
        state.pointee.hasEnded = true
        for id in state.pointee.readers.indices where state.pointee.readers[id]?.catchUp != nil { endCatchUp(id) }
        for reader in state.pointee.readers { reader?.queue.finish() }
        state.pointee.kept.removeAll()
    }

    /// The connection has ended, perhaps in the middle of a read.
    func connectionLost() {
        loop.preconditionOnLoop()
        receivedAll()
        endOverrun()  // The next connection is read again, until a reader that is behind gets more.
        state.pointee.kept.connectionLost()
    }

    /// The session was destroyed: removes the messages that are kept or stored for readers.
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

    /// A message has arrived.
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, _ properties: RawSpan) {
        if !isLastTopic(topic) { look(up: topic) }
        guard message.view.hasSubscriptionIdentifier else { return take(message, payload, properties) }
        let identifiers = properties.withUnsafeBytes { receivedPropertyDecoder.subscriptionIdentifiers(in: $0) }
        if isSpare(identifiers, payload, isKept: message.handle != nil) {
            if let handle = message.handle { dependencies.acknowledge([handle]) }
            return
        }
        take(message, payload, ownProperties(of: properties, with: identifiers).span.bytes)
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

    /// All messages of one read were reported. Gives them to the readers.
    func receivedAll() {
        tellArrivals()
        if state.pointee.arrivals.capacity > Self.keptArrivals { state.pointee.arrivals = [] }
        if state.pointee.byteCount > 0 { handOver() }
        if state.pointee.behindCount > 0, !state.pointee.isOverrun, dependencies.isReadingPaused() {
            state.pointee.isOverrun = true
            setAcknowledgements()
        }
    }

    /// Reports the events of the messages that arrived. Called before another event, and before readers get the messages.
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

    /// Offers a copy of a message, which arrived for these subscriptions, to the readers. Returns `true` if no reader takes this
    /// copy, because another copy is for them. Without a reader, the copy is kept for a later reader if `isKept`.
    private func isSpare(_ copy: [UInt32], _ payload: RawSpan, isKept: Bool) -> Bool {
        guard !copy.isEmpty else { return false }
        finishRun()
        state.pointee.lastIsValid = false  // The next copy is for others.
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

    /// The properties with those identifiers that the app chose, and without those of the client.
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

    /// Which copies come is another matter from now on: subscriptions have changed.
    func subscriptionsChanged() {
        loop.preconditionOnLoop()
        state.pointee.recentCopies = nil
    }

    /// Makes the ticket that the acknowledging readers of a message share; `nil` if no reader acknowledges it.
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

    /// Adds the messages of the last topic to the shares of its readers.
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

    /// Adds a message that is alone on its page to the shares of its readers.
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

    /// Only readers that acknowledge after processing get the ticket.
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

    /// Finishes the page: what readers have of it becomes theirs.
    private func finishPage() {
        guard !state.pointee.page.isEmpty else { return }
        finishRun()
        let page = state.pointee.page.finish()
        state.pointee.lastTopicIsOnPage = false
        let serial = state.pointee.lastSerial
        for id in state.pointee.touched { state.pointee.shares[id].finish(page, arrival: serial) }
    }

    /// Gives every reader its share.
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
            dependencies.setReadingPaused(true)  // A connection that came since does not know.
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
            // ``remove(_:_:)`` follows: at once if its reader has left, else when the reader notices.
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

    /// Stops reading, and not only for the first: a connection that came since does not know.
    func fellBehind() {
        state.pointee.behindCount += 1
        dependencies.setReadingPaused(true)
    }

    /// So much is on its way into the store that reading has to pause, or it is so no more.
    private func storeCongested(_ isCongested: Bool) {
        defer { state.pointee.isStoreCongested = isCongested }
        guard isCongested else { return caughtUp() }
        // Each time, because a connection that came since does not know.
        if state.pointee.isStoreCongested { dependencies.setReadingPaused(true) } else { fellBehind() }
    }

    func caughtUp() {
        state.pointee.behindCount -= 1
        guard state.pointee.behindCount == 0 else { return }
        endOverrun()
        dependencies.setReadingPaused(false)
    }
}
