public import CourierCore
public import Foundation

/// Writes and reads `Codable` values as JSON.
///
/// ```swift
/// MQTTClientConfig(authService: authService, messageAdapters: [JSONMessageAdapter()])
/// ```
///
/// The adapter accepts every `Codable` type except text and bytes (`String`, `Substring`, `Data`, `[UInt8]`). Text and
/// bytes are sent and read unchanged, so a JSON document can also be sent and read as a `String`.
///
/// The adapter uses its coders from several threads at the same time. Foundation's coders allow this use: each call has
/// its own state, and only reads the coder's options. Do not change a coder's options after you passed it to the
/// adapter.
public struct JSONMessageAdapter: MessageAdapter {
    private let coders: CoderPair<JSONEncoder, JSONDecoder>

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - encoder: Writes the values; by default an encoder with Foundation's defaults.
    ///   - decoder: Reads the values; by default a decoder with Foundation's defaults.
    public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
        coders = CoderPair(encoder: encoder, decoder: decoder)
    }

    /// The JSON adapter in ``MQTTClientConfig/defaultAdapters``.
    static let standard = JSONMessageAdapter()

    /// True if the adapter has the same encoder and decoder as ``standard``.
    var isStandard: Bool {
        coders.encoder === Self.standard.coders.encoder && coders.decoder === Self.standard.coders.decoder
    }

    /// The content type of JSON, `application/json`.
    public var contentType: String { "application/json" }

    /// Reads a value from JSON, on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The JSON text.
    ///   - topic: Ignored.
    /// - Returns: The value.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type. `DecodingError` if the JSON
    ///   does not match the type.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        try coders.value(from: message)
    }

    /// Writes a value as JSON, on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: Ignored.
    /// - Returns: The JSON text.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type. `EncodingError` if JSON cannot
    ///   represent the value.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        try coders.payload(of: data)
    }
}
