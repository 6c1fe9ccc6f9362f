import CourierCore
public import Foundation

/// Converts payloads to indented JSON, for example for a packet inspector. Rules define the message type for each
/// topic.
///
/// ```swift
/// let types = try ProtobufDescriptorSet(Data(contentsOf: URL(filePath: "chat.set")))
/// let protobuf = try ProtobufPayloadText(types, rules: ["chat/+/notes": "courier.chat.Note"])
/// print(protobuf.text(of: payload, topic: "chat/7/notes") ?? "something else")
/// ```
///
/// Payloads may come from a hostile source. A payload larger than ``maximumSize`` is not read. For other payloads and
/// their JSON, the limits of the descriptor set apply. Any thread may call this type.
public struct ProtobufPayloadText: Sendable {
    private struct Rule: Sendable {
        let pattern: ContiguousArray<UInt8>
        let type: String
    }

    /// The size in bytes of the largest payload that is read.
    public let maximumSize: Int

    private let types: ProtobufDescriptorSet
    private let rules: [Rule]

    /// Creates a converter from topics and their message types.
    ///
    /// - Parameters:
    ///   - types: The message types.
    ///   - rules: Topic filters, each with the full name of the type of its messages. If several filters match a topic,
    ///     the first one is used.
    ///   - maximumSize: The size in bytes of the largest payload that is read. The default is 64 KiB, the part of a
    ///     packet that an inspector keeps.
    /// - Throws: ``CourierCore/CourierError`` with the code `invalidTopicFilter` if a filter is invalid, or
    ///   `invalidConfiguration` if the descriptor set does not have a type.
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
                    "The descriptor set has no message type \(type.quoted()) for \(filter.quoted()). "
                        + "Write the full name with the package, and make the set with --include_imports.")
            }
            return Rule(pattern: ContiguousArray(try TopicFilter(filter).matchedString.utf8), type: type)
        }
    }

    /// Converts a payload to indented JSON.
    ///
    /// - Parameters:
    ///   - payload: The payload, or its beginning.
    ///   - topic: The topic of the message.
    ///   - contentType: Ignored. The parameter exists because inspectors pass the content type.
    /// - Returns: The message as indented JSON. The result is `nil` if no rule matches the topic, or the payload is too
    ///   large or invalid. It is also `nil` if a non-empty payload has no field of the type. The JSON would then be
    ///   `{}`, which is less useful than the payload's bytes.
    public func text(of payload: Data, topic: String, contentType: String? = nil) -> String? {
        guard payload.count <= maximumSize, let type = type(of: topic),
            let json = try? types.json(from: payload, type: type), json != "{}" || payload.isEmpty
        else { return nil }
        return JSONIndentation.indented(json)
    }

    private func type(of topic: String) -> String? {
        guard !topic.isEmpty else { return nil }
        return topic.withUTF8Span { topic in rules.first { TopicFilter.matches($0.pattern.span, topic) }?.type }
    }
}
