import Synchronization

/// Holds a part of a script back until the test releases the gate.
///
/// ```swift
/// let gate = ScriptGate()
/// let broker = try ScriptedBroker.start([.connection([.accept(), .fault(.hold(.pubAck, until: gate))])])
/// …
/// gate.release()
/// ```
///
/// Any thread may release the gate, also more than once. A released gate never closes again. One gate may hold several
/// steps, also steps of several connections.
public final class ScriptGate: Sendable {
    private struct State {
        var isReleased = false
        var listeners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Makes a closed gate.
    public init() {}

    /// Whether ``release()`` was called.
    public var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Opens the gate, which then stays open.
    public func release() {
        let listeners = state.withLock { state in
            state.isReleased = true
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    /// Calls `listener` once, when the gate is released, or at once if it was released before.
    func onRelease(_ listener: @escaping @Sendable () -> Void) {
        let isReleased = state.withLock { state in
            if !state.isReleased { state.listeners.append(listener) }
            return state.isReleased
        }
        if isReleased { listener() }
    }
}
