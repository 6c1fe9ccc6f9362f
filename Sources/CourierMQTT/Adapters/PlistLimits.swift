import CourierCore
import Foundation

/// The limits of a received property list, which protect its decoder.
///
/// Foundation's decoder has no limits. For an XML list, the decoder recurses as deep as the list is nested. In a binary
/// list, values refer to each other. For each reference to a value, the decoder reads the value again, even if the
/// value contains itself. So even a short list could take unlimited time and memory.
enum PlistLimits {
    /// The largest depth of nested values. This limit equals the limit of Foundation's JSON decoder.
    static let depth = 512
    /// The largest number of values in a binary list. A repeated value counts each time. If a list has more than
    /// 100,000 bytes, its limit is one value for each byte.
    static let valueCount = 100_000
    /// The largest size of all text and data in a binary list, in bytes; repeated values count each time.
    static let contentSize = 16 << 20
    /// The limit for text and data in a binary list is the size of the list multiplied by this factor. The limit is at
    /// least `contentSize`.
    static let contentFactor = 16

    /// Checks a list of any format before it is decoded. The check finds the errors that could harm the process. The
    /// decoder finds most other errors later.
    ///
    /// - Throws: ``CourierError/Code/decodingFailed`` if the list exceeds the limits. `DecodingError` if the decoder
    ///   might read beyond the end of the list. `DecodingError` also if a text is not valid UTF-8, because invalid
    ///   UTF-8 in a number would make the decoder end the process.
    static func check(_ payload: Data) throws {
        if payload.starts(with: "bplist0".utf8) {
            try BinaryPlist([UInt8](payload))?.check()
        } else if let text = utf8Text(of: payload) {
            guard String(validating: text, as: UTF8.self) != nil else { throw malformed("The text is not UTF-8.") }
            if text.first(where: { !whitespace.contains($0) }) == UInt8(ascii: "<") { try checkXML(text) }
        }
    }

    static func tooDeep() -> CourierError {
        CourierError(.decodingFailed, "the property list is nested more than \(depth) levels deep")
    }

    static func malformed(_ description: String) -> DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: description))
    }
}

/// Checks lists in XML format.
extension PlistLimits {
    private static let whitespace = " \t\n\r".utf8

    /// Returns the list in UTF-8, converted in the same way as the decoder converts it; `nil` if the decoder cannot
    /// read the list.
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

    /// Checks the depth of nested tags. Skips comments, CDATA and processing instructions exactly as the decoder does.
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
                // Refuse `<?>`. The decoder accepts it as a complete instruction only in some positions, so this check
                // cannot know where the instruction ends.
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
                // Two kinds of open tags do not count as levels: the tag `<plist>`, and the innermost tag if its value
                // contains no other values. So allow two tags more than the limit.
                if depth > Self.depth + 2 { throw tooDeep() }
            }
        }
    }

    /// Returns the text after the first `mark`; `nil` if there is no mark.
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
