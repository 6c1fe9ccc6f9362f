extension BrokerMachine {
    /// Closes connections whose time limit has passed, publishes wills whose delay is over, and ends expired sessions.
    /// A call before ``nextDeadline`` has none of these effects.
    public mutating func timerFired(now: Instant, into actions: inout [Action]) {
        guard let nextDeadline, now >= nextDeadline else { return }
        for (id, deadline) in awaitingConnect.sorted(by: { $0.key < $1.key }) where now >= deadline {
            fail(id, .connectTimeout, now: now, &actions)
        }
        let silent = links.filter { $0.value.deadline.map { now >= $0 } ?? false }.keys.sorted()
        for id in silent { fail(id, .keepAliveTimeout, now: now, &actions) }
        for id in sessions.keys.sorted() {
            publishPendingWill(of: id, ifDueAt: now, now: now, &actions)
            if let expiresAt = sessions[id]?.expiresAt, now >= expiresAt { endSession(id, now: now, &actions) }
        }
        self.nextDeadline = nil
        for deadline in awaitingConnect.values { note(deadline: deadline) }
        for link in links.values { note(deadline: link.deadline) }
        for session in sessions.values {
            note(deadline: session.expiresAt)
            note(deadline: session.pendingWill?.dueAt)
        }
    }

    /// Lowers ``nextDeadline`` to `deadline` if `deadline` is earlier. `nil` has no effect.
    mutating func note(deadline: Instant?) {
        guard let deadline else { return }
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }
}
