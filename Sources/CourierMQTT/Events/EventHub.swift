import CourierCore
import Foundation
import Synchronization

/// Where a client's events go: to the publisher and the handlers, on the delivery queue, in order.
///
/// Events are only made while somebody listens; ``isListenedTo`` is what a hot path asks before it makes one.
final class EventHub: Sendable {
    /// What is told, in one order: an event, or nothing but how often handlers were reset until then. So a reset that is
    /// lost among too many events is made up for by the next of them.
    private struct Notice: Sendable {
        let event: CourierEvent?
        let resetCount: UInt32
    }

    private let queue: DispatchQueue
    /// From the first listener on.
    private let subject = Mutex<PassthroughSubject<Notice, Never>?>(nil)
    private let listenerCount = Atomic<UInt32>(0)
    private let resetCount = Atomic<UInt32>(0)
    private let handlers: EventHandlerList
    /// What brings events to the handlers, while there are any.
    private let handlerSubscription = Mutex<AnyCancellable?>(nil)

    init(queue: DispatchQueue) {
        self.queue = queue
        handlers = EventHandlerList()
    }

    /// Whether anybody would get an event. A handler that is gone counts until the next event.
    var isListenedTo: Bool { listenerCount.load(ordering: .relaxed) > 0 }

    /// The same, having looked for handlers that are gone.
    var isHeard: Bool {
        guard isListenedTo else { return false }
        handlers.removeGone()
        endIfUnheard()
        return isListenedTo
    }

    /// Tells an event. From any thread; the order of calls from one thread is the order of delivery.
    func tell(_ type: CourierEventType, _ options: ConnectOptions?) {
        guard isListenedTo else { return }
        send(CourierEvent(connectionInfo: options, type: type), resetCount.load(ordering: .acquiring))
    }

    /// Every event from now on, on the delivery queue.
    var publisher: AnyPublisher<CourierEvent, Never> { notices.compactMap { $0.event }.receive(on: queue) }

    /// Everything from now on, where it is told.
    private var notices: AnyPublisher<Notice, Never> {
        AnyPublisher<Notice, Never> { [self] receive in
            listenerCount.add(1, ordering: .relaxed)
            let upstream = madeSubject().eraseToAnyPublisher().subscribe(receive)
            return AnyCancellable { [self] in
                listenerCount.subtract(1, ordering: .relaxed)
                upstream.cancel()
            }
        }
    }

    func add(_ handler: any ICourierEventHandler) {
        handlers.add(handler)
        handlerSubscription.withLock { subscription in
            if subscription == nil { subscription = subscribed() }
        }
        endIfUnheard()  // It may have been removed meanwhile.
    }

    /// Brings the handlers what is told from now on.
    private func subscribed() -> AnyCancellable {
        let known = Mutex(resetCount.load(ordering: .acquiring))
        return notices.receive(on: queue).sink { [weak self] _ in
            self?.endSubscription()
        } receiveValue: { [weak self, handlers] notice in
            let isReset = known.withLock { known in
                defer { known = max(known, notice.resetCount) }
                return known < notice.resetCount
            }
            if isReset { handlers.reset() }
            if let event = notice.event { handlers.tell(event) }
            self?.endIfUnheard()
        }
    }

    func remove(_ handler: any ICourierEventHandler) {
        handlers.remove(handler)
        endIfUnheard()
    }

    /// While there is no handler, none listens.
    private func endIfUnheard() {
        guard handlers.isEmpty else { return }
        endSubscription { handlers.isEmpty }  // Who adds a handler looks for the subscription after that.
    }

    private func endSubscription(if isDue: () -> Bool = { true }) {
        let ended = handlerSubscription.withLock { isDue() ? $0.take() : nil }
        ended?.cancel()
    }

    /// Tells the handlers, behind the events so far, that the session was destroyed.
    func reset() { send(nil, resetCount.add(1, ordering: .acquiringAndReleasing).newValue) }

    private func send(_ event: CourierEvent?, _ resetCount: UInt32) {
        subject.withLock { $0 }?.send(Notice(event: event, resetCount: resetCount))
    }

    /// The last event was told: publishers finish.
    func finish() { madeSubject().send(completion: .finished) }

    private func madeSubject() -> PassthroughSubject<Notice, Never> { subject.part { PassthroughSubject() } }
}
