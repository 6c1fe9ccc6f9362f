import CourierCore
import Synchronization

/// The running processors of a client, by their names.
final class ProcessorList: Sendable {
    private struct State {
        var processors: [String: Processor] = [:]
        var startCount = 0
        /// The messages that each stopped processor left behind in memory, by the processor's name. The next processor
        /// with this name takes them.
        var left: [String: JobQueue.Left] = [:]
    }

    private let state = Mutex(State())

    /// Adds the processor that `make` returns, unless a processor with the name runs. `make` gets the number of
    /// processors that were started before.
    func start(_ name: String, _ make: (_ number: Int) -> Processor) throws -> Processor {
        let processor: Processor? = state.withLock { state in
            guard state.processors[name] == nil else { return nil }
            let processor = make(state.startCount)
            state.startCount += 1
            state.processors[name] = processor
            if let left = state.left.removeValue(forKey: name) { processor.adopt(left) }
            return processor
        }
        guard let processor else {
            throw CourierError(
                .invalidConfiguration,
                "A processor with the name \(name.quoted()) runs already in this client. "
                    + "Stop that processor first, and wait until its handlers have returned. "
                    + "Or give the new processor another name.")
        }
        return processor
    }

    /// Removes a processor that has stopped. Keeps `left`, the messages that the processor leaves behind in memory.
    func remove(_ processor: Processor, leaving left: JobQueue.Left) {
        state.withLock { state in
            guard state.processors[processor.name] === processor else { return }
            state.processors[processor.name] = nil
            if !left.isEmpty { state.left[processor.name] = left }
        }
    }

    /// The parked messages that stopped processors left behind in memory.
    var leftParked: [ParkedMessage] {
        state.withLock { state in
            state.left.flatMap { name, left in left.parked.compactMap { ParkedMessage($0, of: name) } }
        }
    }

    /// Lets the next processor handle a parked message that a stopped processor left behind in memory. Returns `false`
    /// if there is no such message.
    func retryLeft(_ id: StoredMessage.ID) -> Bool {
        state.withLock { state in
            guard let (name, parked) = Self.takeLeft(id, &state) else { return false }
            if let job = parked.job {
                job.attempts = 0
                state.left[name]?.retried.append(job)
            }
            return true
        }
    }

    /// Removes a parked message that a stopped processor left behind in memory. Returns `false` if there is no such
    /// message.
    func removeLeft(_ id: StoredMessage.ID) -> Bool { state.withLock { Self.takeLeft(id, &$0) != nil } }

    private static func takeLeft(
        _ id: StoredMessage.ID, _ state: inout State
    ) -> (name: String, parked: JobQueue.Parked)? {
        for (name, left) in state.left {
            guard let index = left.parked.firstIndex(where: { $0.row == id }) else { continue }
            state.left[name]?.parked.remove(at: index)
            return (name, left.parked[index])
        }
        return nil
    }

    subscript(name: String) -> Processor? { state.withLock { $0.processors[name] } }

    var all: [Processor] { state.withLock { Array($0.processors.values) } }

    /// Lets the processors load the jobs of an earlier process, because the store was opened.
    func storeOpened(_ scope: StoreScope) { for processor in all { processor.load(scope) } }

    /// Removes the jobs of all processors, because the session was destroyed.
    func sessionDestroyed() {
        state.withLock { $0.left = [:] }
        for processor in all { processor.sessionDestroyed() }
    }
}
