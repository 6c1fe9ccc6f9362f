public import Foundation

/// A value that can be decoded from protobuf bytes and encoded to protobuf bytes.
///
/// Types that the plugin generates from a `.proto` file conform automatically. To use a type of another protobuf
/// library, implement the two requirements with that library. For SwiftProtobuf:
///
/// ```swift
/// extension ProtobufMessage where Self: SwiftProtobuf.Message {
///     init(protobufData data: Data) throws { try self.init(serializedBytes: data) }
///     func protobufData() throws -> Data { try serializedData() }
/// }
/// extension Note: ProtobufMessage {}
/// ```
///
/// Both requirements can be called on any thread, and on several threads at the same time.
public protocol ProtobufMessage: Sendable {
    /// Decodes a message.
    ///
    /// - Parameter data: The complete encoded message, without a length prefix.
    /// - Throws: An error if the bytes are not a valid message of this type.
    init(protobufData data: Data) throws

    /// Encodes the message.
    ///
    /// - Returns: The encoded message, without a length prefix.
    /// - Throws: An error if the message cannot be encoded.
    func protobufData() throws -> Data
}
