/// Limits the retained messages that one SUBSCRIBE delivers. The limits for their number and bytes are the same as for
/// the whole store.
///
/// One filter alone never exceeds the limits. But thousands of filters in one packet may match the same messages
/// repeatedly. The broker does not check for congestion between two filters, so only these limits can stop the delivery
/// to such a SUBSCRIBE.
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
