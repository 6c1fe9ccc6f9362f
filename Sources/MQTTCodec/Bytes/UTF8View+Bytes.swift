extension String.UTF8View {
    /// Calls `body` with the bytes of the text. Swift's own strings are stored as UTF-8, so their bytes are not copied.
    ///
    /// The property `utf8Span` of the standard library returns the same bytes, but on Apple's platforms it needs system
    /// versions of 2025 or later. No other file of the codec and the engine may use `utf8Span`.
    @inlinable @inline(__always)
    package func withBytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = withContiguousStorageIfAvailable { bytes -> Result<Value, Failure> in
            do throws(Failure) { return .success(try body(bytes.span.bytes)) } catch { return .failure(error) }
        }
        if let result { return try result.get() }
        return try withCopiedBytes(body)
    }

    /// Calls `body` with a copy of the bytes. The copy is needed on Apple's platforms for a text from Objective-C,
    /// which may not be stored as UTF-8.
    @inlinable @inline(never)
    func withCopiedBytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try ContiguousArray(self).withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span.bytes) }
    }
}
