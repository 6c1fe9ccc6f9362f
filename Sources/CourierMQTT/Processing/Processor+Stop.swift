import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Stops a processor, and gives access to its parked messages.
extension Processor {
    func stop(within time: Duration) async -> Int {
        perform { queue, _, _ in queue.stop() }
        guard Self.current == ObjectIdentifier(self) else { return await end(within: time) }
        // If a handler stops its own processor, do not wait here, because the processor waits until this handler has
        // returned.
        Task.detached { await self.end(within: time) }
        return 0
    }

    /// Waits for the handlers, and ends the subscription. Returns the number of handlers that have not returned.
    private func end(within time: Duration) async -> Int {
        let idle = Waiter<Void>(parts.waiterCount)
        let isSettled = state.withLock { state in
            if state.isSettled { return true }
            state.idle.append(idle)
            return false
        }
        if !isSettled {
            let timer = LoopTimer(on: parts.loop, after: time) { idle.resume(.success(())) }
            defer { timer.cancel() }
            try? await idle.value()
        }
        let (running, tasks, closing) = state.withLock { state in
            state.idle.removeAll { $0 === idle }
            state.isCancelling = true
            let closing = state.closing ?? Task { await close() }
            state.closing = closing
            return (state.handlerCount, state.workers.compactMap { $0.job == nil ? nil : $0.task }, closing)
        }
        for task in tasks { task.cancel() }
        await closing.value
        return running
    }

    /// Ends the subscription, and passes the messages that are not acknowledged to the next reader.
    private func close() async {
        _ = client.withLock { exchange(&$0, with: nil) }
        registration.whenEnded(nil)
        grant.cancel()
        // Wait until the reading task has ended, because it may be adding a message as a job at this moment. This job
        // must be given back, too.
        let reading = state.withLock { exchange(&$0.reading, with: nil) }
        reading?.cancel()
        await reading?.value
        let unread = registration.queue.close().worthKeeping
        var left: [ReceivedMessage] = []
        var timers: [LoopTimer] = []
        changeState { state, now in
            timers = [exchange(&state.timer, with: nil)?.timer, exchange(&state.loadTimer, with: nil)].compactMap(
                \.self)
            left = state.queue.giveBack(now: now)
        }
        for timer in timers { timer.cancel() }
        parts.loop.execute { [parts, registration, left] in
            parts.coordinator.closed(registration, left + unread)
        }
        // The processor keeps its name until no cancelled handler runs and no change of the store is open. If a new
        // processor took the name earlier, both processors could handle the same message at the same time. The loop is
        // called before, so that it removes this reader before it adds the reader of the new processor.
        changeState { state, _ in state.mustLeave = true }
    }

    // MARK: Parked messages

    /// The parked messages that are only in memory.
    var parkedMessages: [ParkedMessage] {
        state.withLock { state in state.queue.parked.compactMap { ParkedMessage($0, of: name) } }
    }

    /// Waits until the jobs of an earlier process are loaded. Returns `false` if the processor is stopped before.
    func isLoaded() async throws -> Bool {
        let waiter = Waiter<Void>(parts.waiterCount)
        let isLoading = state.withLock { state in
            guard state.queue.isLoading, !state.queue.isStopped else { return false }
            state.loaded.append(waiter)
            return true
        }
        if isLoading {
            try await waiter.value { [self] in
                state.withLock { state in state.loaded.removeAll { $0 === waiter } }
            }
        }
        return state.withLock { !$0.queue.isLoading || !$0.queue.isStopped }
    }

    /// Adds the messages that an earlier processor with this name has left behind in memory. Called before the
    /// processor starts.
    func adopt(_ left: JobQueue.Left) {
        let now = now
        state.withLock { state in
            state.queue.adopt(left, now: now)
            takeSteps(&state)
        }
    }

    /// Handles a parked message again. `job` is its row if it is in the store. Returns `nil` if the processor has ended,
    /// and does not change its rows in the store any more.
    func retryParked(_ id: StoredMessage.ID, _ job: StoredJob?) -> Bool? {
        var isDone: Bool?
        let stored = job.map { (job: $0, orderKey: orderKey(of: $0)) }
        perform { queue, now, time in
            if queue.changesParked { isDone = queue.retryParked(id, stored, now: now, time: time) }
        }
        return isDone
    }

    /// Removes a parked message. Returns `nil` if the processor has ended, and does not change its rows in the store any
    /// more.
    func removeParked(_ id: StoredMessage.ID) -> Bool? {
        var isDone: Bool?
        perform { queue, now, time in
            if queue.changesParked { isDone = queue.removeParked(id, now: now, time: time) }
        }
        return isDone
    }
}
