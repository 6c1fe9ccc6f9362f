import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Stops a processor, and gives access to its parked messages.
extension Processor {
    func stop(within time: Duration) async -> Int {
        perform { queue, _, _ in queue.stop() }
        let idle = Waiter<Void>(parts.waiterCount)
        let isIdle = state.withLock { state in
            if state.queue.isIdle { return true }
            state.idle.append(idle)
            return false
        }
        if !isIdle {
            let timer = LoopTimer(on: parts.loop, after: time) { idle.resume(.success(())) }
            defer { timer.cancel() }
            try? await idle.value()
        }
        let running = state.withLock { state in
            state.isCancelling = true
            return state.running.values
        }
        for task in running { task.cancel() }
        await close()
        return running.count
    }

    /// Ends the subscription, and passes the messages that are not acknowledged to the next reader.
    private func close() async {
        guard client.withLock({ exchange(&$0, with: nil) }) != nil else { return }
        grant.cancel()
        // The reading task may have taken a message just now. It becomes a job before the jobs are given back.
        let reading = state.withLock { exchange(&$0.reading, with: nil) }
        reading?.cancel()
        await reading?.value
        let unread = registration.queue.close().worthKeeping
        var (left, leftJobs): ([ReceivedMessage], JobQueue.Left?) = ([], nil)
        changeState { state, _, _ in
            (left, leftJobs) = (state.queue.giveBack(), state.queue.takeLeft())
            // While a cancelled handler runs, no other processor may take this name and start the handler's message.
            if !state.running.isEmpty { state.left = exchange(&leftJobs, with: nil) }
        }
        if let leftJobs { parts.processors.remove(self, leaving: leftJobs) }
        parts.loop.execute { [parts, registration, left] in
            parts.coordinator.closed(registration, left + unread)
        }
    }

    // MARK: Parked messages

    /// The parked messages that are only in memory.
    var parkedMessages: [ParkedMessage] { state.withLock(\.queue.parked).compactMap { ParkedMessage($0, of: name) } }

    /// Adds the messages that an earlier processor with this name has left. Called before the processor starts.
    func adopt(_ left: JobQueue.Left) {
        let now = now
        state.withLock { $0.queue.adopt(left, now: now) }
    }

    /// Handles a parked message again. `job` is its row if it is in the store.
    func retryParked(_ id: StoredMessage.ID, _ job: StoredJob?) -> Bool {
        var isDone = false
        let stored = job.map { (job: $0, orderKey: orderKey(of: $0)) }
        perform { queue, now, time in isDone = queue.retryParked(id, stored, now: now, time: time) }
        return isDone
    }

    func removeParked(_ id: StoredMessage.ID) -> Bool {
        var isDone = false
        perform { queue, now, time in isDone = queue.removeParked(id, now: now, time: time) }
        return isDone
    }
}
