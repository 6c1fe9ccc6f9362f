import CourierCore
import CourierTransport

/// What waits: messages for a connection, and for their time to be over.
extension ClientCoordinator {
    /// Hands waiting messages to the session, a part at a time after a reconnect.
    func drain() {
        guard drainTimer == nil else { return }  // The next part has its time.
        let limit = pacedParts > 0 ? publishing.gate.policy.drainCount : .max
        defer { publishing.durable?.readMore() }
        switch publishing.gate.drain(limit) {
        case .opened: pacedParts = 0
        case .blocked: break  // The session tells when it has room, and a connection when it is there.
        case .hasMore:
            pacedParts -= 1
            let pause = publishing.gate.policy.drainInterval.bounded
            drainTimer = loop.schedule(at: loop.now.advanced(by: pause)) { [weak self] in
                self?.drainTimer = nil
                self?.drain()
            }
        }
    }

    /// Ends what has waited too long, now and as often as needed.
    func scheduleExpiry() {
        guard !isReleased else { return }
        let next = publishing.gate.removeExpired(now: loop.now)
        publishing.durable?.endExpiredArrivals()  // What waits for the store, or is on disk only, as well.
        publishing.durable?.readMore()
        let ends = [next, publishing.durable?.nextExpiry]
        if let next = ends.compactMap({ $0 }).min() { scheduleExpiry(by: next) }
    }

    /// Has ``scheduleExpiry()`` called at `next`, or a little later.
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
