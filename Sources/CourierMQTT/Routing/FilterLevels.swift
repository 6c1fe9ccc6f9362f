import CourierCore

/// The levels of a topic filter one after the other, without a share, without allocating.
struct FilterLevels {
    /// One level.
    enum Level {
        /// `+`.
        case single
        /// `#`, the last one.
        case multi
        /// The bytes at these offsets, perhaps none.
        case text(Range<Int>)
    }

    private let string: String
    /// Where the next level begins; `nil` behind the last one.
    private var start: Int?

    init(_ filter: TopicFilter) {
        string = filter.string
        start = string.utf8.count - filter.matchedString.utf8.count
    }

    mutating func next() -> Level? {
        guard let first = start else { return nil }
        let bytes = string.utf8Span.span
        var end = first
        while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
        start = end < bytes.count ? end + 1 : nil
        guard end == first + 1 else { return .text(first..<end) }
        switch bytes[first] {
        case UInt8(ascii: "+"): return .single
        case UInt8(ascii: "#"): return .multi
        default: return .text(first..<end)
        }
    }

    /// Shows the bytes of a level.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        string.utf8Span.span.extracting(range).withUnsafeBytes(body)
    }
}
