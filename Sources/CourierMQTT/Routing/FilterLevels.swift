import CourierCore

/// Iterates over the levels of a topic filter without allocating memory. Skips the share group of a shared filter.
struct FilterLevels {
    /// One level of a filter.
    enum Level {
        /// The wildcard `+`, which matches one level.
        case single
        /// The wildcard `#`, which is the last level.
        case multi
        /// A text, which may be empty. The range is the position of its bytes in the filter.
        case text(Range<Int>)
    }

    private let string: String
    /// The offset of the next level in bytes; `nil` after the last level.
    private var start: Int?

    init(_ filter: TopicFilter) {
        string = filter.string
        start = string.utf8.count - filter.matchedString.utf8.count
    }

    mutating func next() -> Level? {
        guard let first = start else { return nil }
        let found = string.withUTF8Span { Self.level(in: $0, at: first) }
        start = found.next
        return found.level
    }

    /// Returns the level at an offset, and the offset of the next level.
    @inline(__always)
    private static func level(in bytes: Span<UInt8>, at first: Int) -> (level: Level, next: Int?) {
        var end = first
        while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
        let next = end < bytes.count ? end + 1 : nil
        guard end == first + 1 else { return (.text(first..<end), next) }
        switch bytes[first] {
        case UInt8(ascii: "+"): return (.single, next)
        case UInt8(ascii: "#"): return (.multi, next)
        default: return (.text(first..<end), next)
        }
    }

    /// Calls `body` with the bytes of the level at `range`, and returns its result.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        string.withUTF8Span { $0.extracting(range).withUnsafeBytes(body) }
    }
}
