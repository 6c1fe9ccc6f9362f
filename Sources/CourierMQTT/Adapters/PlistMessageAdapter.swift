public import CourierCore
public import Foundation

/// Writes and reads `Codable` values as property lists.
///
/// It takes the same types as ``JSONMessageAdapter``: every `Codable` type but text and bytes. A property list has a
/// dictionary or an array at its top, so a lone number is not written. The two adapters can stand beside each other:
/// the content type decides in MQTT 5, an ``AdapterRule`` elsewhere, and then the order in which they stand.
///
/// Its coders are made once and used from any thread at the same time. Foundation's coders allow that, since every
/// call works on a state of its own and only reads their options; do not change the options of a coder after it was
/// handed over.
public struct PlistMessageAdapter: MessageAdapter {
    private let coders: CoderPair<PropertyListEncoder, LimitedPlistDecoder>

    /// Makes an adapter that writes one format; it reads all.
    ///
    /// - Parameter format: The format to write; binary by default, which is smaller and faster than XML.
    public init(format: PropertyListSerialization.PropertyListFormat = .binary) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        self.init(encoder: encoder)
    }

    /// Makes an adapter of the app's own coders.
    ///
    /// - Parameters:
    ///   - encoder: Writes the values, in the format that it is set to.
    ///   - decoder: Reads them; one with Foundation's defaults unless given.
    public init(encoder: PropertyListEncoder, decoder: PropertyListDecoder = PropertyListDecoder()) {
        coders = CoderPair(encoder: encoder, decoder: LimitedPlistDecoder(decoder: decoder))
    }

    /// `application/x-plist`.
    public var contentType: String { "application/x-plist" }

    /// Reads a value from a property list of any format, on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The property list.
    ///   - topic: Ignored.
    /// - Returns: The value.
    /// - Throws: ``CourierCore/CourierError`` when the type is not this adapter's, or the list is nested more than 512
    ///   deep or repeats its values too often; `DecodingError` when it is not right for the type.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        try coders.value(from: message)
    }

    /// Writes a value as a property list, on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: Ignored.
    /// - Returns: The property list.
    /// - Throws: ``CourierCore/CourierError`` when the type is not this adapter's, `EncodingError` when a property list
    ///   cannot hold the value.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        try coders.payload(of: data)
    }
}
