/// What one SUBSCRIBE may bring of retained messages: as many, and as many bytes, as the store may hold.
///
/// One filter never asks for more. Thousands in one packet ask for the same messages again and again, and nobody is asked
/// in between whether the connection takes more.
struct RetainedAllowance: Sendable {
    private var count: Int
    private var byteCount: Int
    /// Whether a message did not fit, so that no other is given out either.
    private(set) var isSpent = false

    init(_ configuration: BrokerConfiguration) {
        count = configuration.maximumRetainedMessages
        byteCount = configuration.maximumRetainedBytes
    }

    /// Whether `message` may be given out, which is then taken from the allowance.
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
