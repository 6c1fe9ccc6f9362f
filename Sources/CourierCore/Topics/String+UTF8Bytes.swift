/// Access to the UTF-8 bytes of a text.
///
/// The property `utf8Span` of the standard library returns the same bytes, but on Apple's platforms it needs system
/// versions of 2025 or later. `utf8Span` also needs three calls that are not inlined. No other file of this module may
/// use `utf8Span`.
extension String {
    /// Calls `body` with the UTF-8 bytes of the text. Swift's own strings are stored as UTF-8, so their bytes are not
    /// copied.
    @inlinable @inline(__always)
    package func withUTF8Span<Value, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = utf8.withContiguousStorageIfAvailable { bytes -> Result<Value, Failure> in
            do throws(Failure) { return .success(try body(bytes.span)) } catch { return .failure(error) }
        }
        if let result { return try result.get() }
        return try withUTF8Copy(body)
    }

    /// Calls `body` with the UTF-8 bytes of the text, as ``withUTF8Span(_:)`` does.
    @inlinable @inline(__always)
    package func withUTF8Bytes<Value, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUTF8Span { bytes throws(Failure) in try body(bytes.bytes) }
    }

    /// Calls `body` with a copy of the bytes. The copy is needed on Apple's platforms for a text from Objective-C,
    /// which may not be stored as UTF-8.
    @inlinable @inline(never)
    func withUTF8Copy<Value, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try ContiguousArray(utf8).withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span) }
    }

    /// The approximate memory of the text outside the `String` value, in bytes. Swift stores a text of up to 15 bytes
    /// in the value itself.
    package var heldByteCount: Int { utf8.count <= 15 ? 0 : utf8.count + 48 }
}
