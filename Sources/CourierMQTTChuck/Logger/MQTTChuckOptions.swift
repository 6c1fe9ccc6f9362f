public import Foundation

/// The limits of a logger, its redaction rules, and how it shows payloads. In the example below, `Reading` is a
/// protobuf message of the app.
///
/// ```swift
/// var options = MQTTChuckOptions()
/// options.logsMaxSize = 10_000
/// options.dataStringParser = { data in try? Reading(serializedData: data).description }
/// let logger = MQTTChuckLogger(options: options)
/// ```
public struct MQTTChuckOptions: Sendable {
    /// The maximum number of rows that the logger holds; 100,000 by default. If there are more, the oldest rows are
    /// dropped and counted.
    public var logsMaxSize = 100_000

    /// The maximum memory for rows, in bytes; 32 MiB by default. If the rows need more, the oldest rows are dropped and
    /// counted.
    public var logsMaxBytes = 32 * 1024 * 1024

    /// The maximum age of a row; 24 hours by default, `nil` for no limit.
    public var logsMaxAge: Duration? = .seconds(24 * 60 * 60)

    /// The maximum number of bytes that are stored of one packet; 64 KiB by default. If a packet is larger, the logger
    /// stores its first bytes and its real size.
    public var packetMaxSize = 64 * 1024

    /// The maximum number of bytes that the preview of a payload shows; 2,048 by default.
    public var previewMaxSize = 2_048

    /// A function that turns a payload into text; `nil` by default. It is called before `payloadParsers`, which are
    /// used only if it returns `nil`.
    ///
    /// The function runs on the thread of the caller that reads rows. It receives the stored part of the payload.
    public var dataStringParser: (@Sendable (Data) -> String?)?

    /// Parsers that turn a payload into text by topic and content type, such as protobuf; none by default. The parsers
    /// are tried one after the other, after ``dataStringParser``. If no parser returns text, the payload is shown as
    /// JSON, text or hex.
    public var payloadParsers: [any MQTTChuckPayloadParser] = []

    /// The rules that hide data before a packet is stored. By default, user properties with secret names are hidden.
    public var redaction = MQTTChuckRedaction()

    /// Creates options with the default values.
    public init() {}
}
