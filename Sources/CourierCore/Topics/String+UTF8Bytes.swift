extension String {
    /// Calls `body` with the text in UTF-8. The strings of Swift have these bytes, so that nothing is copied.
    @inlinable
    package func withUTF8Bytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        // `utf8Span` does the same with three calls that are not inlined.
        utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0).bytes) } ?? body(utf8Span.span.bytes)
    }

    /// How much memory the text takes beside the string, about. Up to 15 bytes are in the string.
    package var heldByteCount: Int { utf8.count <= 15 ? 0 : utf8.count + 48 }
}
