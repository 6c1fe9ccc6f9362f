/// Access to the bytes of an array without copying them.
///
/// The property `span` of an array gives the same bytes, but on Apple's platforms it needs system versions of 2025 or
/// later. So use these methods. The property `span` of a `ContiguousArray` has no such limit.
extension Array where Element == UInt8 {
    /// Calls `body` with the bytes of the array.
    @inlinable @inline(__always)
    package func withSpan<Value, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span) }
    }

    /// Calls `body` with the bytes of the array.
    @inlinable @inline(__always)
    package func withBytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withSpan { bytes throws(Failure) in try body(bytes.bytes) }
    }
}
