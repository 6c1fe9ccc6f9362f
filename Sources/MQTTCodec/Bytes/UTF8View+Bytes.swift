extension String.UTF8View {
    /// Calls `body` with the bytes of the text. Swift stores strings as UTF-8, so nothing is copied.
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

    /// Calls `body` with a copy of the bytes. On Apple's platforms, a text from Objective-C may have other storage.
    @inlinable @inline(never)
    func withCopiedBytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try ContiguousArray(self).withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span.bytes) }
    }
}
