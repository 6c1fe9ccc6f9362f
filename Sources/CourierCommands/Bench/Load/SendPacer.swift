/// Decides how many messages of a bench run are due.
struct SendPacer: Hashable, Sendable {
    /// The number of messages per second; `nil` means as many as possible.
    let rate: Int?
    /// The number of all messages; `nil` means no limit.
    let count: Int?

    /// Returns how many messages are due at a time.
    ///
    /// - Parameter nanoseconds: The time since the first message.
    /// - Returns: The number of messages that should have been sent at this time, including the first message.
    func due(after nanoseconds: UInt64) -> Int {
        let limit = count ?? .max
        guard let rate else { return limit }
        return min(limit, Int(Double(nanoseconds) / 1e9 * Double(rate)) + 1)
    }
}
