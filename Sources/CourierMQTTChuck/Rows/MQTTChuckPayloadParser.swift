public import Foundation

/// Turns payloads in a format of the app, such as protobuf, into readable text.
///
/// A parser runs on the threads of callers that read rows, possibly on several threads at once. The payload is data
/// from the network: a parser must accept any bytes, and payloads that are cut.
public protocol MQTTChuckPayloadParser: Sendable {
    /// Returns a payload as text.
    ///
    /// - Parameters:
    ///   - payload: The payload, or the stored part of it if the packet was too large.
    ///   - topic: The topic of the message. A topic alias is already resolved.
    ///   - contentType: The content type of the message, an MQTT 5 property, or `nil` if it has none.
    /// - Returns: The text to show, or `nil` if the parser cannot parse this payload.
    func text(of payload: Data, topic: String, contentType: String?) -> String?
}
