public import Foundation

/// A payload parser that calls a function. It connects a logger to a decoder that does not depend on this library. In
/// the example below, `types` are the protobuf types of the app.
///
/// ```swift
/// let protobuf = try ProtobufPayloadText(types, rules: ["chat/+/notes": "courier.chat.Note"])
/// options.payloadParsers = [MQTTChuckPayloadFunction(protobuf.text)]
/// ```
public struct MQTTChuckPayloadFunction: MQTTChuckPayloadParser {
    private let read: @Sendable (Data, String, String?) -> String?

    /// Creates a parser from a function.
    ///
    /// - Parameter read: Receives the payload or the stored part of it, the topic, and the content type if there is
    ///   one. Returns the text to show, or `nil` if it cannot parse the payload. It runs on the threads of callers that
    ///   read rows, possibly on several threads at once.
    public init(_ read: @escaping @Sendable (_ payload: Data, _ topic: String, _ contentType: String?) -> String?) {
        self.read = read
    }

    /// Calls the function.
    public func text(of payload: Data, topic: String, contentType: String?) -> String? {
        read(payload, topic, contentType)
    }
}
