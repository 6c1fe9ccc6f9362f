import CourierCore
public import Foundation

/// Shows payloads as indented JSON, by rules that say which topics carry which messages: what a packet inspector asks.
///
/// ```swift
/// let types = try ProtobufDescriptorSet(Data(contentsOf: URL(filePath: "chat.set")))
/// let protobuf = try ProtobufPayloadText(types, rules: ["chat/+/notes": "courier.chat.Note"])
/// print(protobuf.text(of: payload, topic: "chat/7/notes") ?? "something else")
/// ```
///
/// Payloads may be hostile: those above ``maximumSize`` are not looked at, and the limits of the descriptor set hold for
/// reading the others and for their JSON. Any thread may ask.
public struct ProtobufPayloadText: Sendable {
    private struct Rule: Sendable {
        let pattern: [UInt8]
        let type: String
    }

    /// The largest payload that is read, in bytes.
    public let maximumSize: Int

    private let types: ProtobufDescriptorSet
    private let rules: [Rule]

    /// Joins topics with types.
    ///
    /// - Parameters:
    ///   - types: The message types.
    ///   - rules: Topic filters, each with the full name of the type that its messages have. The first filter that a
    ///     topic matches decides.
    ///   - maximumSize: The largest payload that is read, in bytes; 64 KiB by default, which is what an inspector keeps
    ///     of a packet.
    /// - Throws: ``CourierCore/CourierError`` with the code `invalidTopicFilter` for a text that is none, and
    ///   `invalidConfiguration` for a type that the descriptor set does not have.
    public init(
        _ types: ProtobufDescriptorSet, rules: KeyValuePairs<String, String>, maximumSize: Int = 64 << 10
    ) throws {
        let known = Set(types.messageNames)
        self.types = types
        self.maximumSize = maximumSize
        self.rules = try rules.map { filter, type in
            guard known.contains(type) else {
                throw CourierError(
                    .invalidConfiguration,
                    "The descriptor set has no message type \(type.quoted()) for \(filter.quoted()). Write its full "
                        + "name, with the package, and make the set with --include_imports.")
            }
            return Rule(pattern: Array(try TopicFilter(filter).matchedString.utf8), type: type)
        }
    }

    /// Shows a payload.
    ///
    /// - Parameters:
    ///   - payload: The payload, or the beginning of it.
    ///   - topic: The topic it came on.
    ///   - contentType: Not looked at; here because inspectors know it.
    /// - Returns: The message as indented JSON; `nil` when no rule is for the topic, the payload is too large or no such
    ///   message, or has nothing that the type knows, so that it is better shown as it is.
    public func text(of payload: Data, topic: String, contentType: String? = nil) -> String? {
        guard payload.count <= maximumSize, let type = type(of: topic),
            let json = try? types.json(from: payload, type: type), json != "{}" || payload.isEmpty
        else { return nil }
        return JSONIndentation.indented(json)
    }

    private func type(of topic: String) -> String? {
        let topic = Array(topic.utf8)
        guard !topic.isEmpty else { return nil }
        return rules.first { TopicFilter.matches($0.pattern.span, topic.span) }?.type
    }
}
