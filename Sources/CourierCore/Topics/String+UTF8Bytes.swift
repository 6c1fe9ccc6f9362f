extension String {
    /// Calls `body` with the UTF-8 bytes of the text. No bytes are copied, because Swift stores strings as UTF-8.
    @inlinable
    package func withUTF8Bytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        // `utf8Span` returns the same bytes, but needs three calls that the compiler does not inline.
        utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0).bytes) } ?? body(utf8Span.span.bytes)
    }

    /// The approximate memory of the text outside the `String` value, in bytes. Swift stores a text of up to 15 bytes
    /// in the value itself.
    package var heldByteCount: Int { utf8.count <= 15 ? 0 : utf8.count + 48 }
}
