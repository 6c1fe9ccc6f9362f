public import Foundation

/// A function as a parser: what joins the logger with a decoder that does not know it.
///
/// ```swift
/// let protobuf = try ProtobufPayloadText(types, rules: ["chat/+/notes": "courier.chat.Note"])
/// options.payloadParsers = [MQTTChuckPayloadFunction(protobuf.text)]
/// ```
public struct MQTTChuckPayloadFunction: MQTTChuckPayloadParser {
    private let read: @Sendable (Data, String, String?) -> String?

    /// Makes a parser.
    ///
    /// - Parameter read: Gets the payload or what was kept of it, the topic, and the content type if there is one;
    ///   returns the text to show, or `nil` for what it does not know. Called on the thread of whoever looks at rows,
    ///   possibly by several at once.
    public init(_ read: @escaping @Sendable (_ payload: Data, _ topic: String, _ contentType: String?) -> String?) {
        self.read = read
    }

    /// Asks the function.
    public func text(of payload: Data, topic: String, contentType: String?) -> String? {
        read(payload, topic, contentType)
    }
}
