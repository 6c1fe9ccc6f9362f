public import Foundation

/// Converts values to payloads of one format, and payloads back to values.
///
/// ```swift
/// struct CSVAdapter: MessageAdapter {
///     var contentType: String { "text/csv" }
///     func fromMessage<T>(_ message: Data, topic: String) throws -> T { … }
///     func toMessage<T>(data: T, topic: String) throws -> Data { … }
/// }
/// ```
///
/// A client may have several adapters. An adapter throws an error for a type that it does not support, and the client
/// then tries the next adapter.
///
/// The client encodes on the thread that publishes, and decodes on the thread that reads. So both methods may run on
/// any thread and at the same time, and adapters are `Sendable`. Neither method may block. An adapter should create its
/// encoders and decoders once and reuse them.
public protocol MessageAdapter: Sendable {
    /// The MIME type of the payloads. With MQTT 5, the client sends this type with each message, so that the receiver
    /// can choose the adapter.
    var contentType: String { get }

    /// Decodes a value from a payload.
    ///
    /// - Parameters:
    ///   - message: The payload.
    ///   - topic: The topic that the message arrived on.
    /// - Returns: The value.
    /// - Throws: An error if the adapter does not support the type, or if the payload does not have the adapter's
    ///   format.
    func fromMessage<T>(_ message: Data, topic: String) throws -> T

    /// Encodes a value as a payload.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic that the value is published to.
    /// - Returns: The payload.
    /// - Throws: An error if the adapter does not support the type, or if the value cannot be encoded.
    func toMessage<T>(data: T, topic: String) throws -> Data
}
