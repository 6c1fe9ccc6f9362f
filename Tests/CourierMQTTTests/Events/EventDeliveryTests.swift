import CourierCore
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The delivery of events to handlers and sinks: in turns of the queue, in order, and only events that are reported
/// after the subscription.
@Suite(.timeLimit(.minutes(5))) struct EventDeliveryTests {
    /// Stores the blocks of a hub until the test runs them.
    private final class Turns: Sendable {
        private let works = Mutex<[@Sendable () -> Void]>([])

        var waitingCount: Int { works.withLock { $0.count } }

        func enqueue(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

        func runOne() {
            let work = works.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            work?()
        }

        /// Runs all blocks, and returns their number.
        @discardableResult
        func runAll() -> Int {
            var count = 0
            while waitingCount > 0 {
                runOne()
                count += 1
            }
            return count
        }
    }

    private final class Handler: ICourierEventHandler, Sendable {
        let told = Series<String>()
        private let action: @Sendable (CourierEvent) -> Void

        init(_ action: @escaping @Sendable (CourierEvent) -> Void = { _ in }) { self.action = action }

        func reset() { told.append("reset") }

        func onEvent(_ event: CourierEvent) {
            if case .eventsDropped(let count) = event.type {
                told.append("dropped \(count)")
            } else {
                told.append(event.type.name)
            }
            action(event)
        }
    }

    private let turns = Turns()
    private let warnings = Series<String>()

    private func hub(_ buffer: consuming EventBuffer = EventBuffer()) -> EventHub {
        EventHub(
            buffer, warn: { [warnings] in warnings.append($0) }, enqueue: { [turns] in turns.enqueue($0) })
    }

    private static let received = CourierEventType.messageReceive(topic: "t", sizeBytes: 1)

    // MARK: Turns

    @Test func `one block on the delivery queue delivers a limited number of events`() {
        let hub = hub()
        let handler = Handler()
        let published = Series<String>()
        let sink = hub.publisher.sink { published.append($0.type.name) }
        hub.add(handler)
        for _ in 0..<1_000 { hub.tell(.reconnect, nil) }
        #expect(turns.waitingCount == 1)
        turns.runOne()
        #expect(handler.told.values.count == 1_000 && published.values.count == 1_000)
        #expect(turns.waitingCount == 0)

        for _ in 0..<(3 * EventHub.entriesPerTurn - 1) { hub.tell(.reconnect, nil) }
        turns.runOne()
        #expect(handler.told.values.count == 1_000 + EventHub.entriesPerTurn)
        #expect(turns.waitingCount == 1)  // The block waits behind other work of the queue.
        #expect(turns.runAll() == 2)
        #expect(handler.told.values.count == 1_000 + 3 * EventHub.entriesPerTurn - 1)
        sink.cancel()
    }

    @Test func `a list of events is delivered in order by one block on the delivery queue, and the list is emptied`() {
        let hub = hub()
        let handler = Handler()
        hub.add(handler)
        hub.tell(.connectionAttempt, nil)
        var list = [CourierEventType](repeating: Self.received, count: 500)
        let capacity = list.capacity
        hub.tell(&list, ConnectOptions.local(1))
        #expect(list.isEmpty && list.capacity == capacity)
        hub.tell(.connectionDisconnect, nil)
        #expect(turns.runAll() == 1)
        let middle = [String](repeating: "messageReceive", count: 500)
        #expect(handler.told.values == ["connectionAttempt"] + middle + ["connectionDisconnect"])
        hub.remove(handler)
        list = [.reconnect]
        hub.tell(&list, nil)
        #expect(list.isEmpty && turns.waitingCount == 0)
    }

    @Test func `each event contains the connect options of the call that reported the event`() {
        let hub = hub()
        let ports = Series<UInt16>()
        let handler = Handler { ports.append($0.connectionInfo?.port ?? 0) }
        hub.add(handler)
        let (one, two) = (ConnectOptions.local(1), ConnectOptions.local(2))
        for options in [nil, one, one, two, nil] { hub.tell(.reconnect, options) }
        turns.runAll()
        hub.tell(.reconnect, nil)
        hub.tell(.reconnect, two)
        turns.runAll()
        #expect(ports.values == [0, 1, 1, 2, 0, 0, 2])
    }

    @Test func `events from several tasks are delivered in the order of each task`() async {
        let queue = DispatchQueue(label: "test.events")
        let hub = EventHub(queue: queue)
        let sizes = Series<[Int]>()
        let last = Mutex([Int](repeating: -1, count: 4))
        let handler = Handler { event in
            guard case .messageReceive(let topic, let size) = event.type, let writer = Int(topic) else { return }
            last.withLock { last in
                if size != last[writer] + 1 { sizes.append([writer, last[writer], size]) }
                last[writer] = size
            }
        }
        hub.add(handler)
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var list: [CourierEventType] = []
                    for size in 0..<1_000 {
                        list.append(.messageReceive(topic: "\(writer)", sizeBytes: size))
                        if size % 7 == writer { hub.tell(&list, nil) }
                        if list.isEmpty, size % 3 == 0 { hub.tell(&list, nil) }
                    }
                    hub.tell(&list, nil)
                }
            }
        }
        while last.withLock({ $0 }) != [999, 999, 999, 999] {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        #expect(sizes.values.isEmpty)
    }

    // MARK: Drops

    @Test func `a full event buffer drops message events and reports the number of dropped events to the handler`() {
        let hub = hub(EventBuffer(countLimit: 4))
        let handler = Handler()
        hub.add(handler)
        hub.tell(.connectionAttempt, nil)
        for _ in 0..<10 { hub.tell(Self.received, nil) }
        hub.tell(.messageSendFailure(topic: "t", qos: .one, error: nil, sizeBytes: 1), nil)
        hub.reset()
        for _ in 0..<5 { hub.tell(Self.received, nil) }
        hub.tell(.connectionDisconnect, nil)
        turns.runAll()
        #expect(
            handler.told.values == [
                "connectionAttempt", "messageReceive", "messageReceive", "messageReceive", "dropped 7",
                "messageSendFailure", "reset", "dropped 5", "connectionDisconnect",
            ])
        #expect(warnings.values.count == 1)
        hub.tell(Self.received, nil)
        turns.runAll()
        #expect(handler.told.values.last == "messageReceive")
    }

    @Test func `the event buffer stays within its limit while a handler blocks the delivery queue`() async {
        let queue = DispatchQueue(label: "test.events")
        let hub = EventHub(
            EventBuffer(countLimit: 100), warn: { [warnings] in warnings.append($0) },
            enqueue: { work in queue.async { work() } })
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let handler = Handler { event in
            guard case .connectionAttempt = event.type else { return }
            began.signal()
            mayEnd.wait()
        }
        hub.add(handler)
        hub.tell(.connectionAttempt, nil)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                began.wait()
                continuation.resume()
            }
        }
        for _ in 0..<1_000 { hub.tell(Self.received, nil) }
        hub.tell(.connectionDisconnect, nil)
        mayEnd.signal()
        while handler.told.values.last != "connectionDisconnect" {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        let told = handler.told.values
        let count = told.count { $0 == "messageReceive" }
        #expect((98...100).contains(count))
        #expect(told.suffix(2) == ["dropped \(1_000 - count)", "connectionDisconnect"])
    }

    @Test func `a warning about dropped events is logged at most once a minute`() {
        let hub = hub(EventBuffer(countLimit: 1))
        let handler = Handler()
        hub.add(handler)
        for _ in 0..<10 {
            for _ in 0..<10 { hub.tell(Self.received, nil) }
            turns.runAll()
        }
        #expect(handler.told.values.count { $0 == "dropped 9" } == 10)
        #expect(warnings.values.count == 1)
    }

    // MARK: Listeners

    @Test func `a listener receives only events that are reported after it was added`() {
        let hub = hub(EventBuffer(countLimit: 3))
        let (first, second) = (Handler(), Handler())
        let published = Series<String>()
        hub.add(first)
        for _ in 0..<5 { hub.tell(Self.received, nil) }
        hub.reset()
        hub.add(second)
        let sink = hub.publisher.sink { published.append($0.type.name) }
        hub.add(first)  // The handler was already added, and keeps its waiting events.
        hub.tell(.appForeground, nil)
        turns.runAll()
        #expect(second.told.values == ["appForeground"])
        #expect(published.values == ["appForeground"])
        #expect(first.told.values.suffix(3) == ["dropped 2", "reset", "appForeground"])
        #expect(first.told.values.count { $0 == "messageReceive" } == 3)
        sink.cancel()
    }

    @Test func `a handler that is removed while an event is delivered receives no further events`() {
        let hub = hub()
        let other = Handler()
        let removed = Mutex<[Handler]>([])
        let handler = Handler { [hub] event in
            guard case .reconnect = event.type else { return }
            for handler in removed.withLock({ $0 }) { hub.remove(handler) }
        }
        hub.add(handler)
        hub.add(other)
        removed.withLock { $0 = [handler, other] }
        for event in [.connectionAttempt, .reconnect, .connectionAttempt] as [CourierEventType] {
            hub.tell(event, nil)
        }
        turns.runAll()
        #expect(handler.told.values == ["connectionAttempt", "reconnect"])
        #expect(other.told.values == ["connectionAttempt"])
        #expect(!hub.isListenedTo)
        removed.withLock { $0 = [] }
    }

    @Test func `a cancelled sink receives no further events, and a new sink receives only later events`() {
        let hub = hub()
        let (ended, begun) = (Series<String>(), Series<String>())
        let sinks = Mutex<[AnyCancellable]>([])
        let sink = hub.publisher.sink { event in
            ended.append(event.type.name)
            hub.tell(.appBackground, nil)
            let next = hub.publisher.sink { begun.append($0.type.name) }
            let old = sinks.withLock { sinks in
                defer { sinks = [next] }
                return sinks
            }
            for sink in old { sink.cancel() }
        }
        sinks.withLock { $0 = [sink] }
        hub.tell(.reconnect, nil)
        hub.tell(.appForeground, nil)
        turns.runAll()
        #expect(ended.values == ["reconnect"])
        #expect(begun.values.isEmpty)  // The event was reported before the sink was added.
        hub.tell(.connectionAvailable, nil)
        turns.runAll()
        #expect(begun.values == ["connectionAvailable"])
        sinks.withLock { $0 = [] }
        #expect(!hub.isListenedTo)
    }

    @Test func `a handler that is released while events are delivered receives no further events`() {
        let hub = hub()
        let told = Series<String>()
        let kept = Mutex<Handler?>(Handler { told.append($0.type.name) })
        let killer = Handler { event in if case .reconnect = event.type { kept.withLock { $0 = nil } } }
        hub.add(killer)
        if let handler = kept.withLock({ $0 }) { hub.add(handler) }
        for event in [.connectionAttempt, .reconnect, .connectionAttempt] as [CourierEventType] {
            hub.tell(event, nil)
        }
        turns.runAll()
        #expect(told.values == ["connectionAttempt"])
        hub.remove(killer)
        #expect(!hub.isListenedTo)
    }

    // MARK: The end

    @Test func `a sink finishes after the last event, and a later sink finishes without events`() {
        let hub = hub()
        let told = Series<String>()
        let handler = Handler()
        let sink = hub.publisher.sink { _ in
            told.append("finished")
        } receiveValue: {
            told.append($0.type.name)
        }
        hub.add(handler)
        for _ in 0..<2_000 { hub.tell(.reconnect, nil) }
        hub.finish()
        hub.finish()
        hub.tell(.reconnect, nil)
        hub.reset()
        turns.runAll()
        #expect(told.values == [String](repeating: "reconnect", count: 2_000) + ["finished"])
        #expect(handler.told.values.count == 2_000)
        #expect(!hub.isListenedTo)

        let late = hub.publisher.sink { _ in
            told.append("late")
        } receiveValue: {
            told.append($0.type.name)
        }
        hub.add(handler)
        #expect(told.values.last == "finished")
        turns.runAll()
        #expect(told.values.suffix(2) == ["finished", "late"])
        #expect(!hub.isListenedTo)
        late.cancel()
        sink.cancel()
    }

    @Test func `a loop over the events receives all events and ends when the hub finishes`() async {
        let queue = DispatchQueue(label: "test.events")
        let hub = EventHub(queue: queue)
        let names = Task {
            var names: [String] = []
            for await event in hub.publisher.values { names.append(event.type.name) }
            return names
        }
        while !hub.isListenedTo { await Task.yield() }
        for _ in 0..<100 { hub.tell(.reconnect, nil) }
        hub.finish()
        #expect(await names.value == [String](repeating: "reconnect", count: 100))
    }
}
