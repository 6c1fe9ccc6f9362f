import CourierCore

/// The calls that begin and end sessions, from any threads, in the order in which they were made: numbered, until the loop has
/// done them.
struct SessionCalls: Sendable {
    enum Call: Sendable {
        case connect(source: String)
        /// `told` is called with the end of the connection.
        case disconnect(
            DisconnectOptions = DisconnectOptions(), told: (@Sendable (Result<Void, CourierError>) -> Void)?)
        case destroy
    }

    private var lastNumber = 0
    private var calls: [Call] = []

    /// Notes a call, and returns its number.
    mutating func note(_ call: Call) -> Int {
        calls.append(call)
        lastNumber += 1
        return lastNumber
    }

    /// Takes the first of the calls that are not done, up to the one with this number.
    mutating func next(upTo number: Int) -> Call? {
        guard !calls.isEmpty, lastNumber - calls.count < number else { return nil }
        let call = calls.removeFirst()
        if calls.isEmpty { calls = [] }  // Clients that idle keep no memory for it.
        return call
    }
}
