public import CourierCore
public import Foundation

/// Writes and reads `Codable` values as property lists.
///
/// The adapter accepts the same types as ``JSONMessageAdapter``: every `Codable` type except text and bytes. The top of
/// a property list is a dictionary or an array, so a single number cannot be written. A client can have both adapters.
/// In MQTT 5, the content type of the message decides which adapter is used. Without a content type, the first matching
/// ``AdapterRule`` decides. Without a matching rule, the order of the adapters decides.
///
/// The adapter uses its coders from several threads at the same time. Foundation's coders allow this use: each call has
/// its own state, and only reads the coder's options. Do not change a coder's options after you passed it to the
/// adapter.
public struct PlistMessageAdapter: MessageAdapter {
    private let coders: CoderPair<PropertyListEncoder, LimitedPlistDecoder>

    /// Makes an adapter that writes one format, and reads all formats.
    ///
    /// - Parameter format: The format to write; binary by default, which is smaller and faster than XML.
    public init(format: PropertyListSerialization.PropertyListFormat = .binary) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        self.init(encoder: encoder)
    }

    /// Makes an adapter from the app's own coders.
    ///
    /// - Parameters:
    ///   - encoder: Writes the values, in its `outputFormat`.
    ///   - decoder: Reads the values; by default a decoder with Foundation's defaults.
    public init(encoder: PropertyListEncoder, decoder: PropertyListDecoder = PropertyListDecoder()) {
        coders = CoderPair(encoder: encoder, decoder: LimitedPlistDecoder(decoder: decoder))
    }

    /// The content type of property lists, `application/x-plist`.
    public var contentType: String { "application/x-plist" }

    /// Reads a value from a property list of any format, on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The property list.
    ///   - topic: Ignored.
    /// - Returns: The value.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type, or if the list has more than
    ///   512 nested levels. The same error is thrown if the list refers to its values so often that decoding would take
    ///   too much time or memory. `DecodingError` if the list does not match the type.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        try coders.value(from: message)
    }

    /// Writes a value as a property list, on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: Ignored.
    /// - Returns: The property list.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type. `EncodingError` if a property
    ///   list cannot represent the value.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        try coders.payload(of: data)
    }
}
