import CourierMQTTChuck
import Foundation

/// The formats in which a payload can be shown.
enum PayloadView: String, CaseIterable, Sendable {
    case json = "JSON"
    case text
    case hex

    /// The maximum number of payload bytes that are shown. An export contains the whole payload.
    static let byteLimit = 64 << 10

    /// Chooses the most readable format for the payload of this packet.
    init(bestFor row: MQTTChuckRow) {
        self =
            switch row.preview.kind {
            case .json: .json
            case .text, .parsed: .text
            case .hex, .empty: .hex
            }
    }

    /// The next format. After the last format, the first follows.
    var next: PayloadView {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }

    /// Returns the payload as lines of at most this width, or `nil` if it cannot be shown in this format.
    func lines(of details: MQTTChuckDetails, width: Int) -> [GlyphText]? {
        switch self {
        case .json:
            guard details.row.preview.kind == .json else { return nil }
            return Self.wrapped(details.row.preview.text, width)
        case .text:
            // The text from the app's payload parser is more useful than the raw bytes.
            if details.row.preview.kind == .parsed { return Self.wrapped(details.row.preview.text, width) }
            return Self.wrapped(
                String(decoding: details.bytes[details.payload].prefix(Self.byteLimit), as: UTF8.self), width)
        case .hex:
            let range = details.payload.prefix(Self.byteLimit)
            return Self.hexLines(of: details, range.startIndex..<range.endIndex, width: width)
        }
    }

    /// Returns a hex dump of bytes of a packet, with as many bytes on a line as fit.
    static func hexLines(of details: MQTTChuckDetails, _ range: Range<Int>, width: Int) -> [GlyphText] {
        // A line has an offset, two spaces, three cells for each byte, a space, and one more cell for each byte.
        let count = [16, 12, 8, 6, 4, 2].first { 9 + $0 * 4 <= width } ?? 1
        return details.hexDump(of: range, perLine: count).split(separator: "\n").map { GlyphText(String($0)) }
    }

    private static func wrapped(_ text: String, _ width: Int) -> [GlyphText] {
        text.prefix(bytes: byteLimit).replacing("\r\n", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { GlyphText(String($0)).lines(width: width) }
    }
}
