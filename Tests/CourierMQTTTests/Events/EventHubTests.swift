import CourierCore
import Dispatch
import TestSupport
import Testing

@testable import CourierMQTT

/// Which handlers and sinks count as listeners, and which events handlers receive.
@Suite(.timeLimit(.minutes(5))) struct EventHubTests {
    private final class Handler: ICourierEventHandler, Sendable {
        let told = Series<String>()

        func reset() { told.append("reset") }
        func onEvent(_ event: CourierEvent) { told.append(event.type.name) }
    }

    private let queue = DispatchQueue(label: "test.events")

    /// Returns after the queue has run its earlier work.
    private func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    @Test func `the hub has no listener after its last handler is removed, until a handler is added`() async {
        let hub = EventHub(queue: queue)
        let (one, two) = (Handler(), Handler())
        hub.add(one)
        hub.add(two)
        hub.remove(one)
        #expect(hub.isListenedTo)
        hub.remove(two)
        #expect(!hub.isListenedTo)
        hub.tell(.appBackground, nil)
        hub.add(one)
        #expect(hub.isListenedTo)
        hub.tell(.appForeground, nil)
        await settle()
        #expect(one.told.values == ["appForeground"])
        #expect(two.told.values.isEmpty)
    }

    @Test func `a released handler no longer counts as a listener after the next event or check for listeners`() async {
        for isLookedFor in [false, true] {
            let hub = EventHub(queue: queue)
            do {
                let handler = Handler()
                hub.add(handler)
                #expect(hub.isHeard)
                withExtendedLifetime(handler) {}
            }
            if isLookedFor {
                #expect(!hub.isHeard)
            } else {
                hub.tell(.appForeground, nil)
                await settle()
            }
            #expect(!hub.isListenedTo)
        }
    }

    @Test func `handlers receive the reset() call after all events that were reported before reset()`() async {
        let hub = EventHub(queue: queue)
        let handler = Handler()
        queue.suspend()
        hub.add(handler)
        for _ in 0..<3_000 { hub.tell(.appForeground, nil) }
        hub.reset()
        hub.tell(.appBackground, nil)
        queue.resume()
        // A turn of the queue delivers only a part of the events.
        while handler.told.values.count < 3_002 { await settle() }
        #expect(handler.told.values.firstIndex(of: "reset") == 3_000)
        #expect(handler.told.values.last == "appBackground")
    }

    @Test func `handlers that are added in several tasks at once receive each later event once`() async {
        let hub = EventHub(queue: queue)
        for _ in 0..<200 {
            let handlers = (0..<4).map { _ in Handler() }
            await withTaskGroup(of: Void.self) { group in
                for handler in handlers {
                    group.addTask {
                        hub.add(handler)
                        hub.tell(.appForeground, nil)
                    }
                }
            }
            hub.tell(.appBackground, nil)
            await settle()
            for handler in handlers {
                #expect(handler.told.values.count { $0 == "appForeground" } <= 4)
                #expect(handler.told.values.count { $0 == "appBackground" } == 1)
                hub.remove(handler)
            }
        }
    }

    /// A handler that removes itself from the hub in `deinit`, perhaps while another handler is added.
    private final class Leaver: ICourierEventHandler, Sendable {
        let hub: EventHub
        init(_ hub: EventHub) { self.hub = hub }
        deinit { hub.remove(self) }
        func reset() {}
        func onEvent(_ event: CourierEvent) {}
    }

    @Test func `a handler can remove itself in deinit while other handlers are added`() async {
        let hub = EventHub(queue: queue)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<2_000 { hub.add(Leaver(hub)) } }
            }
        }
        #expect(!hub.isHeard)
    }

    @Test func `the event hub has a listener while a sink uses the hub's publisher, even without handlers`() {
        let hub = EventHub(queue: queue)
        let handler = Handler()
        hub.add(handler)
        let sink = hub.publisher.sink { _ in }
        hub.remove(handler)
        #expect(hub.isHeard)
        sink.cancel()
        #expect(!hub.isHeard)
    }
}
