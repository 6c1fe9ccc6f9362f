public import Foundation

/// Turns payloads that are neither JSON nor text into something to read.
///
/// Called on the thread of whoever looks at rows, possibly by several at once. What it gets came from the network: it
/// must bear any bytes, and payloads that were cut off.
public protocol MQTTChuckPayloadParser: Sendable {
    /// Reads a payload.
    ///
    /// - Parameters:
    ///   - payload: The payload, or what was kept of it.
    ///   - topic: The topic, with an alias resolved.
    ///   - contentType: The content type of MQTT 5, if the message has one.
    /// - Returns: The text to show, or `nil` when the parser does not know such payloads.
    func text(of payload: Data, topic: String, contentType: String?) -> String?
}
