import Testing

@testable import CourierTransport

/// The reader of HTTP heads.
@Suite struct HTTPHeadReaderTests {
    private func head(_ text: String) throws -> HTTPHead? {
        var reader = HTTPHeadReader(beginning: "", limit: 1_024, fieldLimit: 8)
        return try Array(text.utf8).span.bytes.withUnsafeBytes { bytes throws(HTTPHead.Problem) in
            try reader.read(bytes).head
        }
    }

    /// A space and a combining mark are one `Character`, and so are a prepended mark and a space.
    @Test(arguments: ["\u{301}b", "a\u{301}", "\u{600}", "é"])
    func `HTTPHeadReader keeps combining marks next to blanks in a field value`(value: String) throws {
        let head = try #require(try head("x\r\na:\t \(value) \t\r\n\r\n"))
        #expect(head.fields.map { Array($0.value.utf8) } == [Array(value.utf8)])
    }
}
