import Foundation

/// Creates previews of payloads.
struct PayloadReader {
    private let parser: (@Sendable (Data) -> String?)?
    private let parsers: [any MQTTChuckPayloadParser]
    private let limit: Int

    init(_ options: MQTTChuckOptions) {
        parser = options.dataStringParser
        parsers = options.payloadParsers
        limit = max(0, options.previewMaxSize)
    }

    /// True if the app set payload parsers. A text search then includes their output.
    var hasParsers: Bool { parser != nil || !parsers.isEmpty }

    /// Returns a preview of a payload. `isPart` is true if the end of the payload was not stored.
    func preview(
        _ payload: ArraySlice<UInt8>, topic: String, contentType: String?, isPart: Bool, isWhole wantsAll: Bool = false
    ) -> MQTTChuckPreview {
        if payload.isEmpty { return .empty }
        let limit = wantsAll ? Int.max : limit
        if let text = parsed(payload, topic: topic, contentType: contentType) {
            return cut(text, .parsed, limit, isPart: isPart)
        }
        // A JSON payload above this size is not indented, because most of the output would be cut off again.
        if !isPart, payload.count <= max(limit, 64 * 1024), let text = json(payload) {
            return cut(text, .json, limit, isPart: isPart)
        }
        if let text = text(payload, limit) {
            return MQTTChuckPreview(kind: .text, text: text, isCut: isPart || text.utf8.count < payload.count)
        }
        let shown = payload.prefix(limit == .max ? limit : limit / 2)
        return MQTTChuckPreview(kind: .hex, text: Hex.text(shown), isCut: isPart || shown.count < payload.count)
    }

    /// Returns the text from the app's parsers, or `nil` if no parser returns text.
    func parsed(_ payload: ArraySlice<UInt8>, topic: String, contentType: String?) -> String? {
        guard hasParsers else { return nil }
        let data = Data(payload)
        if let text = parser?(data) { return text }
        for parser in parsers {
            if let text = parser.text(of: data, topic: topic, contentType: contentType) { return text }
        }
        return nil
    }

    private func json(_ payload: ArraySlice<UInt8>) -> String? {
        guard let first = payload.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            Self.depth(payload) <= 64,
            let value = try? JSONSerialization.jsonObject(with: Data(payload)),
            let pretty = try? JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        return String(decoding: pretty, as: UTF8.self)
    }

    /// Returns the deepest nesting of arrays and objects. Deep nesting could overflow the stack of the recursive JSON
    /// parser.
    ///
    /// Brackets inside strings do not count. Bytes after a syntax error do not matter, because the JSON parser stops
    /// there. If the payload contains a zero byte, the largest number is returned. The JSON parser could then read the
    /// payload as UTF-16 or UTF-32, in which a byte `"` is not always a quotation mark.
    private static func depth(_ payload: ArraySlice<UInt8>) -> Int {
        var (depth, deepest) = (0, 0)
        var (isInString, isEscaped) = (false, false)
        for byte in payload {
            if isInString, byte != 0 {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case 0: return .max
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(depth - 1, 0)
            default: break
            }
        }
        return deepest
    }

    /// Returns the payload as text, or `nil` if it is not UTF-8 or has control characters other than white space.
    private func text(_ payload: ArraySlice<UInt8>, _ limit: Int) -> String? {
        var shown = payload.prefix(limit)
        if shown.count < payload.count {
            // Do not cut in the middle of a character.
            while let last = shown.last, last & 0xC0 == 0x80 { shown = shown.dropLast() }
            if let last = shown.last, last >= 0xC0 { shown = shown.dropLast() }
        }
        guard let text = String(validating: shown, as: UTF8.self) else { return nil }
        let isText = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && scalar.value != 0x7F || scalar == "\n" || scalar == "\r" || scalar == "\t"
        }
        return isText ? text : nil
    }

    private func cut(_ text: String, _ kind: MQTTChuckPreview.Kind, _ limit: Int, isPart: Bool) -> MQTTChuckPreview {
        guard text.utf8.count > limit else { return MQTTChuckPreview(kind: kind, text: text, isCut: isPart) }
        var part = text.utf8.prefix(limit)
        while !part.isEmpty, String(part) == nil { part = part.dropLast() }
        return MQTTChuckPreview(kind: kind, text: String(part) ?? "", isCut: true)
    }
}
