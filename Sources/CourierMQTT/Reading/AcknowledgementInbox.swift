import CourierTransport
import MQTTEngine
import Synchronization

/// Brings acknowledgements from readers on any thread to the session, many with one turn of the loop.
final class AcknowledgementInbox: LoopWork {
    private struct State {
        var handles: [IncomingMessage.Handle] = []
        var isScheduled = false
    }

    private let driver: SessionDriver
    private let loop: EventLoop
    private let state = Mutex(State())

    init(_ driver: SessionDriver, on loop: EventLoop) {
        self.driver = driver
        self.loop = loop
    }

    /// Acknowledges a message; at once when called on the loop.
    func add(_ handle: IncomingMessage.Handle) {
        if loop.isOnLoop { return driver.acknowledge(handle) }
        let needsTurn = state.withLock { state in
            state.handles.append(handle)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsTurn { loop.enqueue(self) }
    }

    func runOnLoop() {
        let handles = state.withLock { state in
            state.isScheduled = false
            defer { state.handles = [] }
            return state.handles
        }
        for handle in handles { driver.acknowledge(handle) }
    }
}
