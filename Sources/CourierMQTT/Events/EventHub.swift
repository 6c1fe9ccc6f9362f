import CourierCore
import Foundation
import Synchronization

/// Collects a client's events and delivers them in order, on the delivery queue, to handlers and publishers.
///
/// One turn (a block of work on the queue) delivers up to ``entriesPerTurn`` events from one bounded ``EventBuffer``.
/// Events are created only while there is a listener. So code that runs often checks ``isListenedTo`` before it creates
/// an event.
final class EventHub: Sendable {
    /// The maximum number of entries that one turn (a block of work on the queue) delivers. Between two turns, the
    /// queue can run other work.
    static let entriesPerTurn = 1_024

    /// The minimum time between two log warnings about dropped events.
    private static let warningInterval = Duration.seconds(60)

    /// The state that the lock guards.
    private struct State: ~Copyable {
        var buffer: EventBuffer
        var listeners: [EventListener] = []
        var lastSerial: UInt64 = 0
        /// The connect options of the events that are delivered next.
        var presentOptions: ConnectOptions?
        var isTurnDue = false
        var hasFinished = false
        var lastWarning: ContinuousClock.Instant?

        /// Records that a turn (a block of work that delivers entries) is needed. Returns true if the caller must add
        /// the turn to the queue. Returns false if the buffer is empty or a turn is already planned.
        mutating func needsTurn() -> Bool {
            guard !isTurnDue, !buffer.isEmpty else { return false }
            isTurnDue = true
            return true
        }
    }

    /// Adds a block of work to the delivery queue.
    private let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let warn: @Sendable (String) -> Void
    private let state: Mutex<State>
    private let hasListeners = Atomic(false)
    /// Incremented at each change of the listeners, so that a running delivery detects the change.
    private let changeCount = Atomic<UInt>(0)

    /// Creates a hub that delivers on `queue`. When the hub begins to drop events, it calls `warn` on the thread that
    /// reported the first dropped event.
    convenience init(queue: DispatchQueue, warn: @escaping @Sendable (String) -> Void = { _ in }) {
        self.init(EventBuffer(), warn: warn) { work in queue.async { work() } }
    }

    /// Creates a hub that delivers events in blocks of work. `enqueue` must run these blocks one after the other.
    init(
        _ buffer: consuming EventBuffer, warn: @escaping @Sendable (String) -> Void,
        enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.enqueue = enqueue
        self.warn = warn
        state = Mutex(State(buffer: buffer))
    }

    // MARK: Events

    /// True if there is a listener for events. If the app has released a handler, the handler counts as a listener
    /// until the next delivery.
    var isListenedTo: Bool { hasListeners.load(ordering: .relaxed) }

    /// First removes the handlers that the app has released. Then returns true if there is still a listener for events.
    var isHeard: Bool {
        guard isListenedTo else { return false }
        removeGone()
        return isListenedTo
    }

    /// Reports an event. May be called from any thread. Events that one thread reports are delivered in the order of
    /// the calls.
    func tell(_ type: consuming CourierEventType, _ options: ConnectOptions?) {
        guard isListenedTo else { return }
        let (needsTurn, hasBegunToDrop) = state.withLock { state in
            guard !state.hasFinished else { return (false, false) }
            let wasDropping = state.buffer.droppedCount > 0
            if state.buffer.admits(type) {
                state.buffer.use(options)
                state.buffer.append(exchange(&type, with: .connectionAttempt))
            }
            return (state.needsTurn(), !wasDropping && state.buffer.droppedCount > 0)
        }
        if needsTurn { askForTurn() }
        if hasBegunToDrop { warnOfDrops() }
    }

    /// Reports several events under one lock. Empties `types`, but keeps the array's capacity. May be called from any
    /// thread.
    func tell(_ types: inout [CourierEventType], _ options: ConnectOptions?) {
        guard !types.isEmpty else { return }
        defer { types.removeAll(keepingCapacity: true) }
        guard isListenedTo else { return }
        let (needsTurn, hasBegunToDrop) = state.withLock { state in
            guard !state.hasFinished else { return (false, false) }
            let wasDropping = state.buffer.droppedCount > 0
            state.buffer.use(options)
            types.withUnsafeMutableBufferPointer { types in
                for index in types.indices where state.buffer.admits(types[index]) {
                    state.buffer.append(exchange(&types[index], with: .connectionAttempt))
                }
            }
            return (state.needsTurn(), !wasDropping && state.buffer.droppedCount > 0)
        }
        if needsTurn { askForTurn() }
        if hasBegunToDrop { warnOfDrops() }
    }

    /// Reports to the handlers that the session was destroyed. The report follows all earlier events.
    func reset() { append { $0.appendReset() } }

    /// Ends the publishers after the last event. Later events are not reported.
    func finish() {
        append {
            $0.appendFinish()
        } andThen: {
            $0.hasFinished = true
        }
    }

    private func append(_ body: (inout EventBuffer) -> Void, andThen note: (inout State) -> Void = { _ in }) {
        let needsTurn = state.withLock { state in
            guard !state.hasFinished else { return false }
            if !state.listeners.isEmpty { body(&state.buffer) }
            note(&state)
            return state.needsTurn()
        }
        if needsTurn { askForTurn() }
    }

    private func warnOfDrops() {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let last = state.lastWarning, now < last.advanced(by: Self.warningInterval) { return false }
            state.lastWarning = now
            return true
        }
        guard isDue else { return }
        warn(
            "Events about messages are dropped, because event handlers and sinks of eventPublisher are too slow. "
                + "Shorten the handlers, or give the client its own deliveryQueue; eventsDropped(count:) reports the number."
        )
    }

    // MARK: Listeners

    /// A publisher of all events from now on. The publisher sends them on the delivery queue.
    var publisher: AnyPublisher<CourierEvent, Never> {
        AnyPublisher { [self] receive in
            let serial = subscribe(receive)
            return AnyCancellable { [self] in remove { $0.serial == serial } }
        }
    }

    private func subscribe(_ receive: @escaping @Sendable (PublisherSignal<CourierEvent, Never>) -> Void) -> UInt64 {
        let (serial, hasFinished) = state.withLock { state in
            if !state.hasFinished { append(.subscriber(receive), to: &state) }
            return (state.lastSerial, state.hasFinished)
        }
        guard hasFinished else { return serial }
        enqueue { receive(.completion(.finished)) }
        return 0
    }

    /// Adds a handler, unless it is already added.
    func add(_ handler: any ICourierEventHandler) {
        let id = ObjectIdentifier(handler)
        let box = NonSendableBox(EventListener.WeakHandler(handler: handler))
        state.withLock { state in
            guard !state.hasFinished else { return }
            // If the app has released an earlier handler, `handler` may have the same address. Then replace the
            // listener of the earlier handler.
            //
            // `isGone` retains and releases a handler. It cannot release the last reference here, because only
            // `handler` can exist at this address, and the caller holds a reference to `handler`.
            if let index = state.listeners.firstIndex(where: { $0.isHandler(id) }) {
                guard state.listeners[index].isGone else { return }
                state.listeners.remove(at: index)
            }
            append(.handler(id, box), to: &state)
        }
        removeGone()
    }

    func remove(_ handler: any ICourierEventHandler) {
        let id = ObjectIdentifier(handler)
        remove { $0.isHandler(id) }
    }

    /// Removes the handlers that the app has released.
    private func removeGone() {
        // Check without the lock, because the check retains and releases a handler. If the app releases the handler at
        // the same time, the check releases the last reference. The handler's `deinit` must not run while the lock is
        // held.
        let gone = state.withLock { $0.listeners }.filter { $0.isGone }.map { $0.serial }
        if !gone.isEmpty { remove { gone.contains($0.serial) } }
    }

    private func append(_ target: EventListener.Target, to state: inout State) {
        state.lastSerial += 1
        state.listeners.append(
            EventListener(serial: state.lastSerial, firstNumber: state.buffer.numberOfNext(), target: target))
        noteChange(of: state)
    }

    private func remove(_ isRemoved: (EventListener) -> Bool) {
        let removed = state.withLock { state in
            let removed = state.listeners.filter(isRemoved)
            state.listeners.removeAll(where: isRemoved)
            noteChange(of: state)
            return removed
        }
        _ = removed  // Release the listeners after the lock is released.
    }

    /// Informs other threads about a change of the listeners: updates the two atomic properties that they read without
    /// the lock. The caller must hold the lock.
    private func noteChange(of state: borrowing State) {
        hasListeners.store(!state.listeners.isEmpty, ordering: .relaxed)
        changeCount.add(1, ordering: .relaxed)
    }

    // MARK: Delivery

    /// The listeners that receive a batch. `changeCount` is the value at the time when the listeners were read. A
    /// different value later means that listeners were added or removed.
    private struct Audience {
        var listeners: [EventListener.Present]
        var changeCount: UInt
        /// True if the app has released at least one of the handlers.
        let isOneGone: Bool

        init(_ listeners: [EventListener], changeCount: UInt) {
            self.listeners = listeners.compactMap(\.present)
            self.changeCount = changeCount
            isOneGone = self.listeners.count < listeners.count
        }
    }

    private func askForTurn() {
        enqueue { [self] in takeTurn() }
    }

    /// Delivers up to `entriesPerTurn` entries, including entries that are added during the call. If entries may
    /// remain, adds another call to the queue. At most one call runs at a time.
    private func takeTurn() {
        var left = Self.entriesPerTurn
        while left > 0 {
            let count = deliver(atMost: left)
            if count == 0 { return }
            left -= count
        }
        askForTurn()
    }

    /// Delivers a batch, and returns the number of delivered entries. If the number is 0, no entry remains.
    private func deliver(atMost limit: Int) -> Int {
        var options: ConnectOptions?
        var batch = state.withLock { state in
            state.isTurnDue = !state.buffer.isEmpty
            guard state.isTurnDue else { return EventBuffer.Batch() }
            options = state.presentOptions
            return state.buffer.take()
        }
        let count = min(batch.count, limit)
        guard count > 0 else { return 0 }
        var audience = audience()
        for _ in 0..<count {
            let number = batch.number
            switch batch.takeNext() {
            case .event(let type):
                let event = CourierEvent(connectionInfo: options, type: type)
                forEach(&audience, number) { $0.tell(event) }
            case .options(let next): options = next
            case .reset: forEach(&audience, number) { $0.reset() }
            case .finish: finishAll(&audience, number)
            case .delivered: break
            }
        }
        state.withLock { state in
            state.buffer.putBack(exchange(&batch, with: EventBuffer.Batch()))
            state.presentOptions = options
        }
        return count
    }

    /// Removes the handlers that the app has released, and returns the remaining listeners.
    private func audience() -> Audience {
        let (listeners, count) = state.withLock { ($0.listeners, changeCount.load(ordering: .relaxed)) }
        let audience = Audience(listeners, changeCount: count)
        guard audience.isOneGone else { return audience }
        removeGone()
        return self.audience()
    }

    /// Calls `body` with each listener that receives the entry with this number.
    private func forEach(_ audience: inout Audience, _ number: UInt64, _ body: (EventListener.Present) -> Void) {
        var isOneGone = false
        for index in audience.listeners.indices where audience.listeners[index].firstNumber <= number {
            // Skip two kinds of listeners: listeners that were removed during this delivery, and handlers that the app
            // has released.
            if changeCount.load(ordering: .relaxed) != audience.changeCount, !isPresent(audience.listeners[index]) {
                continue
            }
            if audience.listeners[index].isAbandoned { isOneGone = true } else { body(audience.listeners[index]) }
        }
        // If the app has released a handler, only `audience` still references it. So release this last reference, too.
        if isOneGone { audience.listeners = [] }
        guard isOneGone || changeCount.load(ordering: .relaxed) != audience.changeCount else { return }
        audience = self.audience()
    }

    private func finishAll(_ audience: inout Audience, _ number: UInt64) {
        forEach(&audience, number) { $0.finish() }
        remove { _ in true }
        audience = self.audience()
    }

    private func isPresent(_ listener: EventListener.Present) -> Bool {
        state.withLock { $0.listeners.contains { $0.serial == listener.serial } }
    }
}
