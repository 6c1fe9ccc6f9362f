/// The file format of an export.
public enum MQTTChuckExportFormat: String, CaseIterable, Sendable {
    /// One line of text per packet, for people to read.
    case text

    /// One JSON object per line. ``MQTTChuckLogger/importJSONLines(_:)`` reads the file back without loss.
    case jsonLines = "jsonl"

    /// A packet capture that Wireshark and tshark open and show as MQTT. Its TCP segments are generated, because only
    /// MQTT packets are recorded. Bytes that are not a packet are left out.
    case pcapng

    /// The file name extension of this format.
    public var fileExtension: String {
        switch self {
        case .text: "txt"
        case .jsonLines: "jsonl"
        case .pcapng: "pcapng"
        }
    }

    /// The MIME type of this format, for the `Content-Type` header of HTTP.
    public var contentType: String {
        switch self {
        case .text: "text/plain; charset=utf-8"
        case .jsonLines: "application/jsonl"
        case .pcapng: "application/x-pcapng"
        }
    }
}
