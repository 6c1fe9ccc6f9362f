/// What rows can be written as.
public enum MQTTChuckExportFormat: String, CaseIterable, Sendable {
    /// A line for each packet, for people.
    case text

    /// A JSON object in each line, which ``MQTTChuckLogger/importJSONLines(_:)`` reads back without loss.
    case jsonLines = "jsonl"

    /// A capture that Wireshark and tshark open and show as MQTT, with the TCP that it takes made up.
    case pcapng

    /// What a file of this format is called at its end.
    public var fileExtension: String {
        switch self {
        case .text: "txt"
        case .jsonLines: "jsonl"
        case .pcapng: "pcapng"
        }
    }

    /// How HTTP names the format.
    public var contentType: String {
        switch self {
        case .text: "text/plain; charset=utf-8"
        case .jsonLines: "application/jsonl"
        case .pcapng: "application/x-pcapng"
        }
    }
}
