import CourierCore
import Foundation

/// How much a property list may ask of its decoder.
///
/// Foundation's has no limits: it recurses as deep as XML is nested, and in a binary list, whose values refer to each
/// other, it reads one as often as it is referred to, also one that holds itself.
enum PlistLimits {
    /// How deep values may be nested, as in Foundation's JSON.
    static let depth = 512
    /// How many values a binary list may have, each counted as often as it is referred to. One may have more that has
    /// more bytes: without repeated lists every value costs a byte at least.
    static let valueCount = 100_000
    /// How many bytes of text and data a binary list may have, counted in the same way.
    static let contentSize = 16 << 20
    /// A binary list may have so many times its own size, where that is more.
    static let contentFactor = 16

    /// Looks through a list of any format.
    ///
    /// - Throws: ``CourierError/Code/decodingFailed`` for one beyond the limits, `DecodingError` for one that the decoder
    ///   might read past its end. Most other mistakes are left to the decoder.
    static func check(_ payload: Data) throws {
        if payload.starts(with: "bplist0".utf8) {
            try BinaryPlist([UInt8](payload))?.check()
        } else if let text = utf8Text(of: payload), text.first(where: { !whitespace.contains($0) }) == UInt8(ascii: "<")
        {
            try checkXML(text)
        }
    }

    static func tooDeep() -> CourierError {
        CourierError(.decodingFailed, "the property list is nested more than \(depth) deep")
    }

    static func malformed(_ description: String) -> DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: description))
    }
}

/// XML.
extension PlistLimits {
    private static let whitespace = " \t\n\r".utf8

    /// The list as the decoder reads it, in UTF-8; `nil` for one that it cannot read.
    private static func utf8Text(of payload: Data) -> [UInt8]? {
        if payload.starts(with: [0xEF, 0xBB, 0xBF]) { return [UInt8](payload.dropFirst(3)) }
        let wide: [(mark: [UInt8], encoding: String.Encoding)] = [
            ([0, 0, 0xFE, 0xFF], .utf32BigEndian), ([0xFE, 0xFF, 0, 0], .utf32LittleEndian),
            ([0xFE, 0xFF], .utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian),
        ]
        guard let (mark, encoding) = wide.first(where: { payload.starts(with: $0.mark) }) else {
            return [UInt8](payload)
        }
        return String(bytes: payload.dropFirst(mark.count), encoding: encoding).map { [UInt8]($0.utf8) }
    }

    /// Goes from tag to tag, and passes over what only looks like one, exactly as the decoder does.
    private static func checkXML(_ text: [UInt8]) throws {
        var depth = 0
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            let tag = rest
            let end: String
            if tag.starts(with: "!--".utf8) {
                rest = rest.dropFirst(3)
                end = "-->"
            } else if tag.starts(with: "![CDATA[".utf8) {
                rest = rest.dropFirst(8)
                end = "]]>"
            } else if tag.starts(with: "?".utf8) {
                // The decoder takes it for a whole one, but not everywhere.
                if tag.starts(with: "?>".utf8) { throw malformed("A processing instruction has no name.") }
                end = "?>"
            } else {
                end = ">"
            }
            guard let next = behind([UInt8](end.utf8), in: rest) else { return }
            rest = next
            guard let first = tag.first, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") else { continue }
            if first == UInt8(ascii: "/") {
                depth = max(depth - 1, 0)
            } else if text[next.startIndex - 2] != UInt8(ascii: "/") {
                depth += 1
                if depth > Self.depth + 2 { throw tooDeep() }  // <plist> and a value that holds none are tags, too.
            }
        }
    }

    /// What follows the first `mark` in `text`; `nil` where there is none.
    private static func behind(_ mark: [UInt8], in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = text
        while let start = rest.firstIndex(of: mark[0]) {
            rest = rest[start...]
            if rest.starts(with: mark) { return rest.dropFirst(mark.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
