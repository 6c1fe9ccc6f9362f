import CourierMQTTChuck
import Foundation

/// The details of one packet, as JSON for the page.
struct DetailsJSON: Encodable, Sendable {
    struct Field: Encodable, Sendable {
        let name: String
        let value: String
    }

    /// A payload in one of several readable forms.
    struct View: Encodable, Sendable {
        let name: String
        let text: String
        let isCut: Bool
    }

    let row: RowJSON
    let explanation: String
    let host: String
    let port: UInt16
    let protocolName: String
    let fields: [Field]
    let views: [View]
    /// The first bytes of the packet, as Base64. The page shows them in hex.
    let bytes: Data
    /// The offset of the payload in the packet.
    let payloadStart: Int
    /// The number of stored bytes of the packet, which can be downloaded.
    let keptSize: Int
    let exchange: [RowJSON]

    init(_ details: MQTTChuckDetails, _ limits: ServerLimits) {
        let row = details.row
        self.row = RowJSON(row)
        explanation = details.explanation
        host = row.connection.host.cut(limits.shownCharacters)
        port = row.connection.port
        protocolName = row.connection.protocolName
        fields = details.fields.prefix(limits.shownParts).map {
            Field(name: $0.name.cut(RowJSON.textLimit), value: $0.value.cut(limits.shownCharacters))
        }
        views = Self.views(details, limits)
        bytes = Data(details.bytes.prefix(limits.shownBytes))
        payloadStart = details.payload.lowerBound
        keptSize = details.bytes.count
        exchange = details.exchange.prefix(limits.shownParts).map(RowJSON.init)
    }

    /// Returns the readable forms of the payload. The first form is the text of the app's payload parser or the
    /// indented JSON, if either exists. The plain text follows.
    private static func views(_ details: MQTTChuckDetails, _ limits: ServerLimits) -> [View] {
        guard !details.payload.isEmpty else { return [] }
        var views: [View] = []
        let preview = details.row.preview
        func add(_ name: String) {
            let text = preview.text.cut(limits.shownBytes)
            views.append(View(name: name, text: text, isCut: preview.isCut || text != preview.text))
        }
        switch preview.kind {
        case .parsed: add("Parsed")
        case .json: add("JSON")
        case .empty, .text, .hex: break
        }
        let shown = details.bytes[details.payload].prefix(limits.shownBytes)
        views.append(
            View(
                name: "Text", text: String(decoding: shown, as: UTF8.self),
                isCut: shown.count < details.row.payloadSize ?? 0))
        return views
    }
}
