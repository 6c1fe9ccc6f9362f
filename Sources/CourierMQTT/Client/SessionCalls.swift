import CourierCore

/// The `connect`, `disconnect` and `destroy` calls that the loop has not performed yet. Calls from all threads are
/// numbered in the order in which they were made.
struct SessionCalls: Sendable {
    /// A call of `connect`, `disconnect` or `destroy`.
    enum Call: Sendable {
        case connect(source: String)
        /// `told` is called with the result when the connection has ended.
        case disconnect(
            DisconnectOptions = DisconnectOptions(), told: (@Sendable (Result<Void, CourierError>) -> Void)?)
        case destroy
    }

    private var lastNumber = 0
    private var calls: [Call] = []

    /// Adds a call, and returns its number.
    mutating func note(_ call: Call) -> Int {
        calls.append(call)
        lastNumber += 1
        return lastNumber
    }

    /// Removes and returns the next call if its number is at most `number`. Otherwise returns `nil`.
    mutating func next(upTo number: Int) -> Call? {
        guard !calls.isEmpty, lastNumber - calls.count < number else { return nil }
        let call = calls.removeFirst()
        if calls.isEmpty { calls = [] }  // Frees the array's memory, because many clients are idle.
        return call
    }
}
