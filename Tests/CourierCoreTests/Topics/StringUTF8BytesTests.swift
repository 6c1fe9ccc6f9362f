import CourierCore
import Testing

@Suite struct StringUTF8BytesTests {
    private struct Refusal: Error, Equatable { let count: Int }

    @Test(arguments: ["", "a", "15 bytes at most", "käse/+/#", String(repeating: "long/", count: 40)])
    func `withUTF8Span() and withUTF8Bytes() pass the UTF-8 bytes of the text`(text: String) {
        let bytes = text.withUTF8Span { bytes in bytes.indices.map { bytes[$0] } }
        #expect(bytes == Array(text.utf8))
        #expect(text.withUTF8Bytes { $0.byteCount } == bytes.count)
    }

    @Test func `withUTF8Bytes() throws the error of its closure with the original type`() {
        #expect(throws: Refusal(count: 3)) {
            try "abc".withUTF8Bytes { bytes throws(Refusal) in throw Refusal(count: bytes.byteCount) }
        }
    }
}
