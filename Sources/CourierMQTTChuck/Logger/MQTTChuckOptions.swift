public import Foundation

/// How much a logger keeps, what it hides, and how it shows payloads.
///
/// ```swift
/// var options = MQTTChuckOptions()
/// options.logsMaxSize = 10_000
/// options.dataStringParser = { data in try? Reading(serializedData: data).description }
/// let logger = MQTTChuckLogger(options: options)
/// ```
public struct MQTTChuckOptions: Sendable {
    /// The most rows that are kept; 100,000 by default. The oldest are dropped and counted.
    public var logsMaxSize = 100_000

    /// What the rows may take in memory, in bytes; 32 MiB by default. The oldest are dropped and counted.
    public var logsMaxBytes = 32 * 1024 * 1024

    /// How long rows are kept; 24 hours by default, `nil` for as long as there is room.
    public var logsMaxAge: Duration? = .seconds(24 * 60 * 60)

    /// What is kept of one packet, in bytes; 64 KiB by default. Of a larger one the beginning is kept, and its true
    /// size.
    public var packetMaxSize = 64 * 1024

    /// How many bytes of a payload a preview shows; 2,048 by default.
    public var previewMaxSize = 2_048

    /// Turns a payload into text; asked first, `nil` by default. Where it answers `nil`, others are asked.
    ///
    /// It is called on the thread of whoever looks, with what was kept of the payload.
    public var dataStringParser: (@Sendable (Data) -> String?)?

    /// Turn payloads into text by topic and content type, such as protobuf with its descriptors; asked after
    /// ``dataStringParser`` in this order, none by default. What none of them knows is shown as JSON, text or hex.
    public var payloadParsers: [any MQTTChuckPayloadParser] = []

    /// What is hidden before a packet is kept; user properties with secret names by default.
    public var redaction = MQTTChuckRedaction()

    /// The defaults.
    public init() {}
}
