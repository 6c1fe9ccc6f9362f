import CourierMQTTChuck
import Foundation

/// The ways in which a payload is shown.
enum PayloadView: String, CaseIterable, Sendable {
    case json = "JSON"
    case text
    case hex

    /// What is shown of a payload at most, in bytes; an export has all of it.
    static let byteLimit = 64 << 10

    /// The way that says most about this packet.
    init(bestFor row: MQTTChuckRow) {
        self =
            switch row.preview.kind {
            case .json: .json
            case .text, .parsed: .text
            case .hex, .empty: .hex
            }
    }

    /// The next one, and behind the last the first again.
    var next: PayloadView {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }

    /// A payload as lines that are not wider than this; `nil` where it cannot be shown so.
    func lines(of details: MQTTChuckDetails, width: Int) -> [GlyphText]? {
        switch self {
        case .json:
            guard details.row.preview.kind == .json else { return nil }
            return Self.wrapped(details.row.preview.text, width)
        case .text:
            // What a parser of the app has made of it says more than its bytes.
            if details.row.preview.kind == .parsed { return Self.wrapped(details.row.preview.text, width) }
            return Self.wrapped(
                String(decoding: details.bytes[details.payload].prefix(Self.byteLimit), as: UTF8.self), width)
        case .hex:
            let range = details.payload.prefix(Self.byteLimit)
            return Self.hexLines(of: details, range.startIndex..<range.endIndex, width: width)
        }
    }

    /// Bytes of a packet, as many on a line as fit.
    static func hexLines(of details: MQTTChuckDetails, _ range: Range<Int>, width: Int) -> [GlyphText] {
        // Offset, two spaces, three cells for each byte, a space, and one for each byte again.
        let count = [16, 12, 8, 6, 4, 2].first { 9 + $0 * 4 <= width } ?? 1
        return details.hexDump(of: range, perLine: count).split(separator: "\n").map { GlyphText(String($0)) }
    }

    private static func wrapped(_ text: String, _ width: Int) -> [GlyphText] {
        text.prefix(bytes: byteLimit).replacing("\r\n", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { GlyphText(String($0)).lines(width: width) }
    }
}
