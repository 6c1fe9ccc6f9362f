public import CourierCore
public import Foundation

/// The message adapter for protobuf: it encodes and decodes protobuf messages.
///
/// ```swift
/// MQTTClientConfig(authService: authService, messageAdapters: [JSONMessageAdapter(), ProtobufMessageAdapter()])
/// ```
///
/// The adapter accepts every ``ProtobufMessage``, and declines every other type, so that another adapter can convert
/// it. Its position in the list of adapters does not matter.
public struct ProtobufMessageAdapter: MessageAdapter {
    private let limits: ProtobufLimits

    /// Creates an adapter with the default limits.
    public init() { self.init(limits: .default) }

    /// Creates an adapter with the given limits.
    ///
    /// - Parameter limits: The limits for one message. They apply to generated messages. Messages of another protobuf
    ///   library have the limits of that library.
    public init(limits: ProtobufLimits) { self.limits = limits }

    /// The content type of the encoded messages: `application/x-protobuf`.
    public var contentType: String { "application/x-protobuf" }

    /// Decodes a message on the caller's thread.
    ///
    /// - Parameters:
    ///   - message: The encoded message.
    ///   - topic: Ignored.
    /// - Returns: The decoded message.
    /// - Throws: ``CourierCore/CourierError`` if the type is not a ``ProtobufMessage``, or the bytes are not a valid
    ///   message of the type. Types of another protobuf library throw the errors of that library.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        let value: any ProtobufMessage
        switch T.self {
        case let type as any GeneratedProtobufMessage.Type: value = try type.init(protobufData: message, limits: limits)
        case let type as any ProtobufMessage.Type: value = try type.init(protobufData: message)
        default: throw CourierError(.decodingFailed, "\(T.self) is not a ProtobufMessage")
        }
        guard let value = value as? T else {
            throw CourierError(.decodingFailed, "\(type(of: value)) is not \(T.self)")
        }
        return value
    }

    /// Encodes a message on the caller's thread.
    ///
    /// - Parameters:
    ///   - data: The message.
    ///   - topic: Ignored.
    /// - Returns: The encoded message.
    /// - Throws: ``CourierCore/CourierError`` if the type is not a ``ProtobufMessage``, or the message cannot be
    ///   encoded. Types of another protobuf library throw the errors of that library.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        switch data {
        case let message as any GeneratedProtobufMessage: try message.protobufData(limits: limits)
        case let message as any ProtobufMessage: try message.protobufData()
        default: throw CourierError(.encodingFailed, "\(type(of: data)) is not a ProtobufMessage")
        }
    }
}
