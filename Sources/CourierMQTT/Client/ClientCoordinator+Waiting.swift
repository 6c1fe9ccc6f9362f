import CourierCore
import CourierTransport
import MQTTEngine

/// Runs the timers for messages that wait to be sent, and for received messages that wait for a reader.
extension ClientCoordinator {
    /// Called after the driver took messages from the outgoing queue. Reports results, resumes callers that wait for
    /// room in the queue, and sets the timer for the next batch.
    func tookMessages(_ taken: OutgoingQueue.Taken) {
        publishing.results.report(taken.ended)
        for waiter in taken.roomWaiters { waiter.resume(.success(())) }
        if taken.readsRows { publishing.store?.readNext() }
        guard let next = taken.nextBatch, batchTimer == nil else { return }
        batchTimer = loop.schedule(at: next.instant) { [weak self] in
            self?.batchTimer = nil
            self?.driver.runOnLoop()
        }
    }

    /// Makes new messages wait in the outgoing queue. Called when there is no connection, or when the connection is
    /// about to end.
    func endedMessageFlow() { tookMessages(publishing.queue.disconnected()) }

    /// Ends the expired messages, and sets a timer for the time when the next message expires.
    func scheduleExpiry() {
        guard !isReleased else { return }
        let (taken, next) = publishing.queue.endExpired(now: loop.now)
        tookMessages(taken)
        if let next { scheduleExpiry(by: next) }
    }

    /// Calls ``scheduleExpiry()`` at `next`, but not earlier than `ClientSettings/expiryCheckInterval` from now.
    func scheduleExpiry(by next: ContinuousClock.Instant) {
        guard !isReleased else { return }
        let deadline = max(next, loop.now.advanced(by: ClientSettings.expiryCheckInterval))
        if let expiryTimer {
            guard deadline < expiryTimer.deadline else { return }
            loop.cancel(expiryTimer.token)
        }
        let token = loop.schedule(at: deadline) { [weak self] in
            self?.expiryTimer = nil
            self?.scheduleExpiry()
        }
        expiryTimer = (token, deadline)
    }

    func scheduleCleanup() {
        guard settings.timeToKeep > .zero, !isReleased else { return }
        cleanupTimer = loop.schedule(at: loop.now.advanced(by: settings.cleanupInterval)) { [weak self] in
            guard let self else { return }
            distributor.removeExpired()
            scheduleCleanup()
        }
    }
}
