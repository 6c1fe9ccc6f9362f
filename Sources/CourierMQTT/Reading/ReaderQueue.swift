import CourierCore
import Synchronization

/// The messages that wait for one reader: filled by the event loop a batch at a time, emptied by the reader.
///
/// Nobody is called under the lock. The reader sets ``Waker`` while it has nothing to do, and is woken once.
final class ReaderQueue: Sendable {
    /// Wakes a reader that waits; called once, without a lock held.
    typealias Waker = @Sendable () -> Void

    /// What the event loop learns from a push.
    struct Pushed {
        /// How many messages of QoS 0 were given up.
        var dropped = 0
        /// Whether the reader is so far behind that reading has to pause; ``drained`` is called when it is not.
        var isFull = false
    }

    private struct State {
        var messages: [ReceivedMessage] = []
        /// How many of the messages at the front were given up.
        var start = 0
        var waker: Waker?
        var end: CourierError?
        var isEnded = false
        var isFull = false

        var count: Int { messages.count - start }
    }

    /// What the reader asked for.
    let buffer: ReadBuffer
    private let state = Mutex(State())
    /// Told, on the reader's thread, when a queue that was full has room again.
    private let drained: @Sendable () -> Void

    init(_ buffer: ReadBuffer, drained: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        self.drained = drained
    }

    // MARK: The event loop's side

    /// Puts a batch in and leaves `batch` empty.
    func push(_ batch: inout [ReceivedMessage]) -> Pushed {
        let (pushed, waker) = state.withLock { state -> (Pushed, Waker?) in
            var pushed = Pushed()
            guard !state.isEnded else { return (pushed, nil) }
            if state.messages.isEmpty, batch.count <= buffer.limit {
                swap(&state.messages, &batch)
            } else {
                for message in batch where !append(message, to: &state) { pushed.dropped += 1 }
            }
            // At the limit nothing may be given up of QoS>0, so the sender has to wait.
            if state.count >= buffer.limit,
                buffer.overflow == .pause || state.messages.contains(where: { $0.qos != .zero })
            {
                state.isFull = true
            }
            pushed.isFull = state.isFull
            defer { state.waker = nil }
            return (pushed, state.waker)
        }
        batch.removeAll(keepingCapacity: true)
        waker?()
        return pushed
    }

    /// Adds a message as the policy says; `false` when one was given up for it, or it was.
    private func append(_ message: ReceivedMessage, to state: inout State) -> Bool {
        guard state.count >= buffer.limit else {
            state.messages.append(message)
            return true
        }
        switch buffer.overflow {
        case .pause:
            state.messages.append(message)
            return true
        case .dropNewest:
            guard message.qos != .zero else { return false }
            state.messages.append(message)
            return true
        case .dropOldest:
            state.messages.append(message)
            guard let oldest = state.messages[state.start...].firstIndex(where: { $0.qos == .zero }) else {
                return true
            }
            if oldest == state.start {
                state.start += 1
                if state.start >= buffer.limit {
                    state.messages.removeFirst(state.start)
                    state.start = 0
                }
            } else {
                state.messages.remove(at: oldest)
            }
            return false
        }
    }

    /// No message will follow; the reader gets those that wait, and then `error` if there is one. Only the first call
    /// counts.
    func finish(_ error: CourierError? = nil) {
        let waker = state.withLock { state -> Waker? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            state.end = error
            defer { state.waker = nil }
            return state.waker
        }
        waker?()
    }

    // MARK: The reader's side

    /// What the reader finds.
    enum Taken {
        case messages([ReceivedMessage])
        /// Nothing now; the waker was kept, if there was one.
        case nothing
        case ended(CourierError?)
    }

    /// Takes what is there, at most `limit` messages; without any, keeps `waker` to call when there is something.
    func take(atMost limit: Int = .max, orWake waker: Waker? = nil) -> Taken {
        let (taken, wasFull) = state.withLock { state -> (Taken, Bool) in
            guard state.count > 0 else {
                if state.isEnded {
                    defer { state.end = nil }  // An error is told once.
                    return (.ended(state.end), false)
                }
                state.waker = waker
                return (.nothing, false)
            }
            let messages: [ReceivedMessage]
            if limit >= state.count {
                messages = state.start == 0 ? state.messages : Array(state.messages[state.start...])
                state.messages = []
                state.start = 0
            } else {
                messages = Array(state.messages[state.start..<state.start + limit])
                state.start += limit
                if state.start * 2 >= state.messages.count {
                    state.messages.removeFirst(state.start)
                    state.start = 0
                }
            }
            guard state.isFull, state.count <= buffer.limit / 2 else { return (.messages(messages), false) }
            state.isFull = false
            return (.messages(messages), true)
        }
        if wasFull { drained() }
        return taken
    }

    /// The reader is gone: nobody is woken any more, and what waited is given back.
    func close() -> [ReceivedMessage] {
        let (left, wasFull) = state.withLock { state in
            let left = Array(state.messages[state.start...])
            let wasFull = state.isFull
            state = State()
            state.isEnded = true
            return (left, wasFull)
        }
        if wasFull { drained() }
        return left
    }
}
