public import Foundation

/// The limits of a logger, its redaction rules, and how it shows payloads.
///
/// ```swift
/// var options = MQTTChuckOptions()
/// options.logsMaxSize = 10_000
/// options.dataStringParser = { data in try? Reading(serializedData: data).description }
/// let logger = MQTTChuckLogger(options: options)
/// ```
public struct MQTTChuckOptions: Sendable {
    /// The most rows that the logger holds; 100,000 by default. Beyond it, the oldest rows are dropped and counted.
    public var logsMaxSize = 100_000

    /// The most memory for rows, in bytes; 32 MiB by default. Beyond it, the oldest rows are dropped and counted.
    public var logsMaxBytes = 32 * 1024 * 1024

    /// The longest time for which a row is kept; 24 hours by default, `nil` for no limit.
    public var logsMaxAge: Duration? = .seconds(24 * 60 * 60)

    /// The most bytes that are kept of one packet; 64 KiB by default. Of a larger packet, the logger keeps the first
    /// bytes and the real size.
    public var packetMaxSize = 64 * 1024

    /// The most bytes that a preview of a payload shows; 2,048 by default.
    public var previewMaxSize = 2_048

    /// Turns a payload into text; `nil` by default. It is called first. If it returns `nil`, the logger tries
    /// `payloadParsers`.
    ///
    /// It runs on the thread of the caller that reads rows, with the part of the payload that was kept.
    public var dataStringParser: (@Sendable (Data) -> String?)?

    /// Parsers that turn a payload into text by topic and content type, such as protobuf; none by default. They are
    /// tried in order, after ``dataStringParser``. If no parser returns text, the payload is shown as JSON, text or
    /// hex.
    public var payloadParsers: [any MQTTChuckPayloadParser] = []

    /// The rules that hide data before a packet is kept. By default, user properties with secret names are hidden.
    public var redaction = MQTTChuckRedaction()

    /// Creates options with the default values.
    public init() {}
}
