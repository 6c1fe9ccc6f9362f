/// The received bytes of a frame's header that arrives in pieces. The bytes are in the value itself, so they need no
/// heap block.
struct WebSocketHeaderBytes: Sendable {
    /// The memory of the bytes. These 16 bytes are enough, because the longest header has 14 bytes.
    private var storage: (UInt64, UInt64) = (0, 0)
    private(set) var count = 0

    /// Adds a byte to a header that has fewer than ``WebSocketFrame/longestHeader`` bytes.
    mutating func append(_ byte: UInt8) {
        precondition(count < WebSocketFrame.longestHeader, "a header of more than 14 bytes")
        let index = count
        withUnsafeMutableBytes(of: &storage) { $0[index] = byte }
        count = index &+ 1
    }

    /// Removes all bytes.
    mutating func removeAll() { count = 0 }

    /// The first byte of a header that is not empty.
    var first: UInt8 { withUnsafeBytes(of: storage) { $0[0] } }

    /// Calls `body` with the address of the bytes.
    func withBytes(_ body: (UnsafeRawPointer) throws(WebSocketViolation) -> Void) throws(WebSocketViolation) {
        try withUnsafePointer(to: storage) { start throws(WebSocketViolation) in try body(UnsafeRawPointer(start)) }
    }
}
