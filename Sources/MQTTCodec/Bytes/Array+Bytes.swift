extension Array where Element == UInt8 {
    /// Calls `body` with the bytes of the array.
    ///
    /// The property `span` of an array gives the same bytes, but on Apple's platforms it needs the systems of 2025. So
    /// the codec and the engine use this method.
    @inlinable @inline(__always)
    package func withBytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span.bytes) }
    }
}
