public import CourierCore
public import Foundation

/// Stands in for the protobuf adapter, which Courier does not have yet; this one refuses everything.
public struct ProtobufMessageAdapter: MessageAdapter {
    /// `application/x-protobuf`.
    public var contentType: String { "application/x-protobuf" }

    /// Makes an adapter.
    public init() {}

    /// Throws.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        throw CourierError(.decodingFailed, "protobuf is not there yet")
    }

    /// Throws.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        throw CourierError(.encodingFailed, "protobuf is not there yet")
    }
}
