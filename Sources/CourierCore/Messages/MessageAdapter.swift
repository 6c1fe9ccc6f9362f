public import Foundation

/// Turns values into payloads and back, for one format.
///
/// ```swift
/// struct CSVAdapter: MessageAdapter {
///     var contentType: String { "text/csv" }
///     func fromMessage<T>(_ message: Data, topic: String) throws -> T { … }
///     func toMessage<T>(data: T, topic: String) throws -> Data { … }
/// }
/// ```
///
/// Contract. Several adapters may stand in one client; an adapter throws for a type that is not its own, and the next
/// one is asked. Encoding runs on the publisher's side, decoding on the reader's, hence on any thread and at the same
/// time: adapters are `Sendable`, and their coders are made once and reused. Neither method may block.
public protocol MessageAdapter: Sendable {
    /// The MIME type of the payloads, sent along in MQTT 5 and used to choose the adapter when one arrives.
    var contentType: String { get }

    /// Reads a value from a payload.
    ///
    /// - Parameters:
    ///   - message: The payload.
    ///   - topic: The topic it came on.
    /// - Returns: The value.
    /// - Throws: When the type is not this adapter's or the bytes are not its format.
    func fromMessage<T>(_ message: Data, topic: String) throws -> T

    /// Writes a value as a payload.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic it goes to.
    /// - Returns: The payload.
    /// - Throws: When the type is not this adapter's or the value cannot be written.
    func toMessage<T>(data: T, topic: String) throws -> Data
}
