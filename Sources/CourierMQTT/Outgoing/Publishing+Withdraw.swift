import CourierCore
import CourierTransport
import MQTTEngine

extension Publishing {
    /// Ends a message that the session driver has never taken, and waits until the message store has removed the
    /// message.
    ///
    /// - Returns: `false` if the message was sent before, or has already ended.
    func withdraw(_ token: Token) async throws -> Bool {
        guard let withdrawn = queue.withdraw(token) else { return false }
        var ended = withdrawn.ended
        let row = ended.row
        ended.row = nil  // `report` must not remove the row, because this function removes it.
        results.report([ended])
        for waiter in withdrawn.roomWaiters { waiter.resume(.success(())) }
        guard let row, let store else { return true }
        let waiter = Waiter<Void>(waiterCount)
        loop.execute { store.remove(row) { waiter.resume($0.mapError { $0 }) } }
        try await waiter.value()
        return true
    }
}
