/// The limit on the retained messages that one SUBSCRIBE delivers: the store's limits on messages and bytes.
///
/// One filter alone never exceeds the limit. But thousands of filters in one packet may match the same messages
/// repeatedly. The limit is needed, because the broker does not check for congestion between two filters.
struct RetainedAllowance: Sendable {
    private var count: Int
    private var byteCount: Int
    /// True after a message did not fit. No further message is then delivered.
    private(set) var isSpent = false

    init(_ configuration: BrokerConfiguration) {
        count = configuration.maximumRetainedMessages
        byteCount = configuration.maximumRetainedBytes
    }

    /// Subtracts `message` from the allowance; returns `false` if it does not fit.
    mutating func take(_ message: BrokerMessage) -> Bool {
        guard !isSpent, count > 0, message.byteCount <= byteCount else {
            isSpent = true
            return false
        }
        count -= 1
        byteCount -= message.byteCount
        return true
    }
}
