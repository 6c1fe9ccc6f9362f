public import CourierCore
public import Foundation

/// Stands in for the JSON adapter of `CourierMQTT`.
public struct JSONMessageAdapter: MessageAdapter {
    private let decoder = JSONDecoder()
    private let encoder = JSONEncoder()

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Makes an adapter.
    public init() {}

    /// Reads a `Decodable`.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        if let type = T.self as? any Decodable.Type, let value = try decoder.decode(type, from: message) as? T {
            return value
        }
        throw CourierError(.decodingFailed, "\(T.self) on \(topic) is not Decodable.")
    }

    /// Writes an `Encodable`.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        guard let value = data as? any Encodable else {
            throw CourierError(.encodingFailed, "\(T.self) for \(topic) is not Encodable.")
        }
        return try encoder.encode(value)
    }
}

/// Stands in for the adapter of `CourierProtobuf`, which will read and write protobuf messages; this one refuses everything.
public struct ProtobufMessageAdapter: MessageAdapter {
    /// `application/x-protobuf`.
    public var contentType: String { "application/x-protobuf" }

    /// Makes an adapter.
    public init() {}

    /// Throws.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        throw CourierError(.decodingFailed, "The stub of ProtobufMessageAdapter decodes nothing.")
    }

    /// Throws.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        throw CourierError(.encodingFailed, "The stub of ProtobufMessageAdapter encodes nothing.")
    }
}
