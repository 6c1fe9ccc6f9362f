import Foundation

/// Makes previews of payloads.
struct PayloadReader {
    private let parser: (@Sendable (Data) -> String?)?
    private let parsers: [any MQTTChuckPayloadParser]
    private let limit: Int

    init(_ options: MQTTChuckOptions) {
        parser = options.dataStringParser
        parsers = options.payloadParsers
        limit = max(0, options.previewMaxSize)
    }

    /// Whether the app brought parsers, whose words are searched too.
    var hasParsers: Bool { parser != nil || !parsers.isEmpty }

    /// A preview of a payload; `isPart` says that not all of it was kept.
    func preview(
        _ payload: ArraySlice<UInt8>, topic: String, contentType: String?, isPart: Bool, isWhole wantsAll: Bool = false
    ) -> MQTTChuckPreview {
        if payload.isEmpty { return .empty }
        let limit = wantsAll ? Int.max : limit
        if let text = parsed(payload, topic: topic, contentType: contentType) {
            return cut(text, .parsed, limit, isPart: isPart)
        }
        // Indenting what is then cut off anyway would take time for nothing.
        if !isPart, payload.count <= max(limit, 64 * 1024), let text = json(payload) {
            return cut(text, .json, limit, isPart: isPart)
        }
        if let text = text(payload, limit) {
            return MQTTChuckPreview(kind: .text, text: text, isCut: isPart || text.utf8.count < payload.count)
        }
        let shown = payload.prefix(limit == .max ? limit : limit / 2)
        return MQTTChuckPreview(kind: .hex, text: Hex.text(shown), isCut: isPart || shown.count < payload.count)
    }

    /// What the app's parsers make of it.
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

    /// The deepest nesting of arrays and objects. A parser that recurses must not get millions of them.
    ///
    /// Brackets inside of strings do not count. Where the bytes stop being JSON, the parser stops as well. A zero byte is
    /// not JSON in UTF-8: the parser would take it for UTF-16 or UTF-32, where a byte `"` need not be a quotation mark.
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

    /// The payload as text, if it is text: UTF-8 without control characters other than white space.
    private func text(_ payload: ArraySlice<UInt8>, _ limit: Int) -> String? {
        var shown = payload.prefix(limit)
        if shown.count < payload.count {
            // Not in the middle of a character.
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
