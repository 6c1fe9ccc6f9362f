public import Foundation

/// A value that can be read from protobuf bytes and written as such.
///
/// Types that the plugin makes from a `.proto` file conform by themselves. A type of another protobuf library takes
/// part once its two calls are named here; for SwiftProtobuf that is
///
/// ```swift
/// extension ProtobufMessage where Self: SwiftProtobuf.Message {
///     init(protobufData data: Data) throws { try self.init(serializedBytes: data) }
///     func protobufData() throws -> Data { try serializedData() }
/// }
/// extension Note: ProtobufMessage {}
/// ```
///
/// Both calls come from any thread, at the same time too.
public protocol ProtobufMessage: Sendable {
    /// Reads a message.
    ///
    /// - Parameter data: The whole message, without a length before it.
    /// - Throws: When the bytes are not such a message.
    init(protobufData data: Data) throws

    /// Writes the message.
    ///
    /// - Returns: The bytes, without a length before them.
    /// - Throws: When the message cannot be written.
    func protobufData() throws -> Data
}
