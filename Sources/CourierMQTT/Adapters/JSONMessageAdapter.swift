public import CourierCore
public import Foundation

/// Writes and reads `Codable` values as JSON.
///
/// ```swift
/// MQTTClientConfig(authService: authService, messageAdapters: [JSONMessageAdapter()])
/// ```
///
/// It accepts every `Codable` type except text and bytes (`String`, `Substring`, `Data`, `[UInt8]`). Those are sent and
/// read unchanged, so a JSON document can also be sent and read as a `String`.
///
/// Its coders are used from several threads at the same time. Foundation's coders allow that, because each call has its
/// own state and only reads the options. Do not change the options of a coder after you passed it.
public struct JSONMessageAdapter: MessageAdapter {
    private let coders: CoderPair<JSONEncoder, JSONDecoder>

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - encoder: Writes the values; one with Foundation's defaults unless given.
    ///   - decoder: Reads them; one with Foundation's defaults unless given.
    public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
        coders = CoderPair(encoder: encoder, decoder: decoder)
    }

    /// The adapter of all clients that name no adapters.
    static let standard = JSONMessageAdapter()

    /// Whether it has the coders of ``standard``.
    var isStandard: Bool {
        coders.encoder === Self.standard.coders.encoder && coders.decoder === Self.standard.coders.decoder
    }

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Reads a value from JSON, on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The JSON text.
    ///   - topic: Ignored.
    /// - Returns: The value.
    /// - Throws: ``CourierCore/CourierError`` when the type is not this adapter's, `DecodingError` when the JSON is not
    ///   right for it.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        try coders.value(from: message)
    }

    /// Writes a value as JSON, on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: Ignored.
    /// - Returns: The JSON text.
    /// - Throws: ``CourierCore/CourierError`` when the type is not this adapter's, `EncodingError` when JSON cannot
    ///   hold the value.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        try coders.payload(of: data)
    }
}
