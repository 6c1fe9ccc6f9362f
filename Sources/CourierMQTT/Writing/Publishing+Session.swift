import CourierCore

/// The end of a session: first everything is taken out, then everybody is told.
extension Publishing {
    /// What a session leaves when it is given up: taken out everywhere, and not told yet.
    struct Remains: Sendable {
        /// What was not on its way into the store.
        var arrivals = OutboxArrivals.Taken()
        /// What waited for a connection.
        let waiting: [PublishLedger.Entry]
        /// What the session had, or another thread is handing to it.
        let others: [PublishLedger.Entry]
        let roomWaiters: [Waiter<Void>]
    }

    /// The session is given up: what comes from now on belongs to the next session, which it waits for until the gate
    /// is released. From any thread; nobody is called, so that it may be done under a lock.
    ///
    /// - Returns: Every publish that has not ended, for ``end(_:_:)``.
    func giveUpSession() -> Remains {
        setHasSession(false)
        gate.hold()
        let arrivals = durable?.arrivals.giveUpSession() ?? OutboxArrivals.Taken()
        var remains = takeAll()
        remains.arrivals = arrivals
        return remains
    }

    /// Tells everybody who waits for a session that was given up. From any thread.
    func end(_ remains: Remains, _ error: CourierError) {
        durable?.refuse(remains.arrivals, error)
        ends.end(remains.waiting, with: .queue(error.code))
        let roomError = CourierError(error.code, "The client was destroyed while a publisher waited for room.")
        for waiter in remains.roomWaiters { waiter.resume(.failure(roomError)) }
        ends.end(remains.others, with: .abandoned(error))
    }

    /// Ends every publish that has not ended. The rows of those that are stored are for the next client.
    func endAll(_ error: CourierError) { end(takeAll(), error) }

    private func takeAll() -> Remains {
        let (tokens, roomWaiters) = gate.takeAll()
        let waiting = tokens.compactMap { ledger.take($0) }
        return Remains(waiting: waiting, others: ledger.takeAll(), roomWaiters: roomWaiters)
    }
}
