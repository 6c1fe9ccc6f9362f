import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Finds the readers of every message that arrives and puts it into their queues, a batch at a time.
///
/// Safe to share: everything here is touched on the client's loop only, which each entry checks.
final class MessageDistributor: @unchecked Sendable {
    /// Names one reader.
    typealias ReaderID = Int

    private struct Reader {
        let queue: ReaderQueue
        let mode: AcknowledgementMode
        /// What it reads; `nil` is everything.
        let filter: TopicFilter?
        var isBehind = false
    }

    /// Behind a pointer, because the fields of a class are checked for exclusive access at run time, several times per
    /// message.
    private struct State: ~Copyable {
        var tree = TopicTree()
        var readers: [Reader?] = []
        /// What has arrived for each reader in this read.
        var batches: [[ReceivedMessage]] = []
        var free: [ReaderID] = []
        /// The readers of everything.
        var unfiltered: [ReaderID] = []
        /// The readers with a batch.
        var touched: [ReaderID] = []
        var slab = SlabWriter()
        var kept: KeptMessages
        /// The topic of the last message, and who reads it.
        var lastTopic: [UInt8] = []
        var lastTopicString = ""
        var lastReaders: [ReaderID] = []
        var lastIsValid = false
        var behindCount = 0
        var afterProcessingCount = 0
    }

    /// What the distributor needs of the client. All on the loop.
    struct Surroundings: Sendable {
        /// Stops and resumes reading from the broker.
        var setReadingPaused: @Sendable (Bool) -> Void
        /// Acknowledges a message to the broker.
        var acknowledge: @Sendable (IncomingMessage.Handle) -> Void
        /// Says whether acknowledgements wait for readers from now on.
        var setAcknowledgesOnCommand: @Sendable (Bool) -> Void
        /// Tells an event.
        var tell: @Sendable (CourierEventType) -> Void
    }

    private let loop: EventLoop
    private let events: EventHub
    private let timeToKeep: Duration
    private let surroundings: Surroundings
    private let state: UnsafeMutablePointer<State>

    init(
        on loop: EventLoop, events: EventHub, timeToKeep: Duration, maximumKept: Int, _ surroundings: Surroundings
    ) {
        self.loop = loop
        self.events = events
        self.timeToKeep = timeToKeep
        self.surroundings = surroundings
        state = .allocate(capacity: 1)
        state.initialize(to: State(kept: KeptMessages(limit: maximumKept)))
    }

    deinit {
        // Nobody else has the pointer, and nobody is left to call.
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Readers

    /// Adds a reader of `filter`, or of everything; it gets the kept messages that match first.
    func add(_ queue: ReaderQueue, _ filter: TopicFilter?, _ mode: AcknowledgementMode) -> ReaderID {
        loop.preconditionOnLoop()
        let reader = Reader(queue: queue, mode: mode, filter: filter)
        let id: ReaderID
        if let free = state.pointee.free.popLast() {
            id = free
            state.pointee.readers[id] = reader
        } else {
            id = state.pointee.readers.count
            state.pointee.readers.append(reader)
            state.pointee.batches.append([])
        }
        if let filter { state.pointee.tree.insert(filter, for: id) } else { state.pointee.unfiltered.append(id) }
        state.pointee.lastIsValid = false
        if mode == .afterProcessing {
            state.pointee.afterProcessingCount += 1
            if state.pointee.afterProcessingCount == 1 { surroundings.setAcknowledgesOnCommand(true) }
        }
        if let filter {
            var kept = state.pointee.kept.take(filter)
            if !kept.isEmpty { push(&kept, to: id) }
        }
        return id
    }

    /// Removes a reader, and keeps what it was to acknowledge and has not for the next one.
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
        state.pointee.touched.removeAll { $0 == id }
        state.pointee.lastIsValid = false
        if reader.isBehind { caughtUp() }
        let batch = state.pointee.batches[id]
        state.pointee.batches[id] = []
        guard reader.mode == .afterProcessing else { return }
        state.pointee.afterProcessingCount -= 1
        if state.pointee.afterProcessingCount == 0 { surroundings.setAcknowledgesOnCommand(false) }
        for message in left + batch where message.extras?.ticket != nil {
            _ = state.pointee.kept.keep(message, until: nil)
        }
    }

    /// A reader that was behind has room again.
    func drained(_ id: ReaderID) {
        loop.preconditionOnLoop()
        guard id < state.pointee.readers.count, state.pointee.readers[id]?.isBehind == true else { return }
        state.pointee.readers[id]?.isBehind = false
        caughtUp()
    }

    /// No message will come any more: every loop ends.
    func finish(_ error: CourierError?) {
        loop.preconditionOnLoop()
        for reader in state.pointee.readers { reader?.queue.finish(error) }
        state.pointee.kept.removeAll()
    }

    /// The connection has ended.
    func connectionLost() {
        loop.preconditionOnLoop()
        state.pointee.kept.connectionLost()
    }

    /// Forgets the kept messages whose time is over.
    func removeExpired() {
        loop.preconditionOnLoop()
        for message in state.pointee.kept.removeExpired(now: loop.now) { tellNoReader(message) }
    }

    /// Forgets all kept messages.
    func removeKept() {
        loop.preconditionOnLoop()
        state.pointee.kept.removeAll()
    }

    // MARK: Messages

    /// A message has arrived; `properties` are its own, if it has any.
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, _ properties: MessageProperties?) {
        if !isLastTopic(topic) { look(up: topic) }
        let delivery = message.view.delivery
        if events.isListenedTo {
            surroundings.tell(
                .messageReceive(topic: state.pointee.lastTopicString, sizeBytes: payload.byteCount))
        }
        var ticket: AcknowledgementTicket?
        if let handle = message.handle {
            let waiting = state.pointee.lastReaders.count { state.pointee.readers[$0]?.mode == .afterProcessing }
            if waiting > 0 {
                ticket = AcknowledgementTicket(handle, readers: waiting, done: surroundings.acknowledge)
            }
        }
        let extras =
            ticket != nil || properties != nil
            ? ReceivedMessage.Extras(properties: properties ?? MessageProperties(), ticket: ticket) : nil
        let received = ReceivedMessage(
            topic: state.pointee.lastTopicString, payload: state.pointee.slab.copy(payload), qos: QoS(delivery.qos),
            packetID: delivery.packetID?.rawValue, isRetained: message.view.isRetained,
            isDuplicate: delivery.isDuplicate, extras: extras)
        for id in state.pointee.lastReaders { append(received, to: id) }
        if state.pointee.lastReaders.isEmpty { keep(received) }
        if let handle = message.handle, ticket == nil { surroundings.acknowledge(handle) }
    }

    /// All that one read brought has been told: the readers get it.
    func receivedAll() {
        guard !state.pointee.touched.isEmpty else { return }
        var touched: [ReaderID] = []
        swap(&touched, &state.pointee.touched)
        for id in touched {
            push(&state.pointee.batches[id], to: id)
        }
        touched.removeAll(keepingCapacity: true)
        if state.pointee.touched.isEmpty { swap(&touched, &state.pointee.touched) }
    }

    private func isLastTopic(_ topic: RawSpan) -> Bool {
        guard state.pointee.lastIsValid, topic.byteCount == state.pointee.lastTopic.count else { return false }
        return topic.withUnsafeBytes { bytes in state.pointee.lastTopic.withUnsafeBytes { $0.elementsEqual(bytes) } }
    }

    private func look(up topic: RawSpan) {
        topic.withUnsafeBytes { bytes in
            state.pointee.lastTopic.removeAll(keepingCapacity: true)
            state.pointee.lastTopic.append(contentsOf: bytes)
            state.pointee.lastTopicString = String(decoding: bytes, as: UTF8.self)
        }
        state.pointee.lastReaders.removeAll(keepingCapacity: true)
        state.pointee.lastReaders.append(contentsOf: state.pointee.unfiltered)
        state.pointee.tree.forEachMatch(of: topic) { state.pointee.lastReaders.append($0) }
        state.pointee.lastIsValid = true
    }

    private func append(_ message: ReceivedMessage, to id: ReaderID) {
        if state.pointee.batches[id].isEmpty { state.pointee.touched.append(id) }
        state.pointee.batches[id].append(message)
    }

    private func push(_ batch: inout [ReceivedMessage], to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        let pushed = reader.queue.push(&batch)
        if pushed.isFull, !reader.isBehind {
            state.pointee.readers[id]?.isBehind = true
            state.pointee.behindCount += 1
            if state.pointee.behindCount == 1 { surroundings.setReadingPaused(true) }
        }
    }

    private func caughtUp() {
        state.pointee.behindCount -= 1
        if state.pointee.behindCount == 0 { surroundings.setReadingPaused(false) }
    }

    /// Nobody reads this topic: the message is kept if it may be, and its loss is told otherwise.
    private func keep(_ message: ReceivedMessage) {
        let isKept =
            message.qos != .zero && timeToKeep > .zero
            && state.pointee.kept.keep(message, until: loop.now.advanced(by: timeToKeep))
        if !isKept { tellNoReader(message) }
    }

    private func tellNoReader(_ message: ReceivedMessage) {
        guard events.isListenedTo, message.qos != .zero else { return }
        surroundings.tell(
            .messageReceiveFailure(
                topic: message.topic,
                error: CourierError(
                    .noReader,
                    "A message on \(message.topic.quoted()) was given up: nobody reads this topic, and it was not kept; "
                        + "read it, unsubscribe, or raise messagePersistenceTTLSeconds or maximumKeptMessages."),
                sizeBytes: message.payload.count))
    }
}
