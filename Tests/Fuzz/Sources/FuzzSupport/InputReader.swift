/// Takes numbers and bytes from the beginning of an input.
package struct InputReader {
    /// The bytes that were not taken yet.
    package private(set) var rest: ArraySlice<UInt8>

    init(_ data: UnsafePointer<UInt8>?, _ count: Int) {
        rest = Array(UnsafeBufferPointer(start: data, count: count))[...]
    }

    /// True if all bytes were taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Takes one byte; 0 at the end of the input.
    package mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Takes two bytes as a number, the higher byte first.
    package mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Takes at most `count` bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Takes all bytes up to the next line feed, and the line feed. Bytes that are not UTF-8 are replaced.
    package mutating func line() -> String {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Takes all remaining bytes as text. Bytes that are not UTF-8 are replaced.
    package mutating func text() -> String {
        defer { rest = [] }
        return String(decoding: rest, as: UTF8.self)
    }
}
