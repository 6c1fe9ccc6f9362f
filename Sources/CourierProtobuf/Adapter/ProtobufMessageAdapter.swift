public import CourierCore
public import Foundation

/// Writes and reads protobuf messages.
///
/// ```swift
/// MQTTClientConfig(authService: authService, messageAdapters: [JSONMessageAdapter(), ProtobufMessageAdapter()])
/// ```
///
/// It takes every ``ProtobufMessage`` and nothing else, so its place among other adapters does not matter.
public struct ProtobufMessageAdapter: MessageAdapter {
    private let limits: ProtobufLimits

    /// Makes an adapter with the default limits.
    public init() { self.init(limits: .default) }

    /// Makes an adapter.
    ///
    /// - Parameter limits: What one message may cost. They hold for generated messages; another library's messages
    ///   have that library's limits.
    public init(limits: ProtobufLimits) { self.limits = limits }

    /// `application/x-protobuf`.
    public var contentType: String { "application/x-protobuf" }

    /// Reads a message, on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The bytes.
    ///   - topic: Is not looked at.
    /// - Returns: The message.
    /// - Throws: ``CourierCore/CourierError`` when the type is no ``ProtobufMessage`` or the bytes are not such a
    ///   message; what another library throws for its own types.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        let value: any ProtobufMessage
        switch T.self {
        case let type as any GeneratedProtobufMessage.Type: value = try type.init(protobufData: message, limits: limits)
        case let type as any ProtobufMessage.Type: value = try type.init(protobufData: message)
        default: throw CourierError(.decodingFailed, "\(T.self) is no ProtobufMessage")
        }
        guard let value = value as? T else {
            throw CourierError(.decodingFailed, "\(type(of: value)) is not \(T.self)")
        }
        return value
    }

    /// Writes a message, on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The message.
    ///   - topic: Is not looked at.
    /// - Returns: The bytes.
    /// - Throws: ``CourierCore/CourierError`` when the type is no ``ProtobufMessage`` or the message cannot be
    ///   written; what another library throws for its own types.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        switch data {
        case let message as any GeneratedProtobufMessage: try message.protobufData(limits: limits)
        case let message as any ProtobufMessage: try message.protobufData()
        default: throw CourierError(.encodingFailed, "\(type(of: data)) is no ProtobufMessage")
        }
    }
}
