public import CourierCore
public import Foundation

/// Sends and reads `Data` and `[UInt8]` unchanged.
public struct DataMessageAdapter: MessageAdapter {
    /// Makes an adapter.
    public init() {}

    /// The content type of bytes, `application/octet-stream`.
    public var contentType: String { "application/octet-stream" }

    /// Returns the payload unchanged.
    ///
    /// - Parameters:
    ///   - message: The payload.
    ///   - topic: Ignored.
    /// - Returns: The same bytes.
    /// - Throws: ``CourierCore/CourierError`` when the type is not `Data` or `[UInt8]`.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        // Compare the types before any cast, because a cast from `Data` to another type costs more than both
        // comparisons.
        if T.self == Data.self, let value = message as? T { return value }
        if T.self == [UInt8].self, let value = [UInt8](message) as? T { return value }
        throw CourierError(.decodingFailed, "\(T.self) is neither Data nor [UInt8]")
    }

    /// Returns the bytes unchanged.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - topic: Ignored.
    /// - Returns: The same bytes.
    /// - Throws: ``CourierCore/CourierError`` when the type is not `Data` or `[UInt8]`.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        if let bytes = data as? Data { return bytes }
        if let bytes = data as? [UInt8] {
            // Swift can cast an empty array of any element type to `[UInt8]`. So an empty array is accepted only if its
            // own type is `[UInt8]`.
            let isOfBytes = T.self == [UInt8]?.self || type(of: data as Any) == [UInt8].self
            if isOfBytes || !bytes.isEmpty { return Data(bytes) }
        }
        throw CourierError(.encodingFailed, "\(type(of: data)) is neither Data nor [UInt8]")
    }
}
