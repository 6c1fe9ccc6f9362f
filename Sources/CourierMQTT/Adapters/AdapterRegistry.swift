import CourierCore
import Foundation

/// The client's adapters, and the order in which they are tried for a message.
///
/// Adapters for the message's content type are tried first, then the adapters of the first matching topic rule, then
/// all other adapters in their order. The first adapter that does not throw is used. Values of the types `Message`,
/// `String`, `Substring`, `Data` and `[UInt8]` always work. If no adapter accepts such a value, the payload is sent or
/// read unchanged.
struct AdapterRegistry: Sendable {
    /// The largest number of adapters of one client.
    static let adapterLimit = 64
    /// The largest number of rules of one client. Each rule costs one comparison for each message.
    static let ruleLimit = 256

    /// One adapter and its content type. The entry is a class, so that passing an entry to a function changes only one
    /// reference count.
    private final class Entry: Sendable {
        let adapter: any MessageAdapter
        let contentType: String
        let mediaType: MediaType
        /// True if the registry added this adapter, because the app listed no adapter for text or no adapter for bytes.
        /// An added adapter is used only for text and bytes.
        let isLastResort: Bool

        init(_ adapter: any MessageAdapter, isLastResort: Bool = false) {
            self.adapter = adapter
            contentType = adapter.contentType
            mediaType = MediaType(contentType)
            self.isLastResort = isLastResort
        }
    }

    // The entries for the JSON, text and data adapters of this package. Nearly every client uses these adapters, so all
    // clients share the entries.
    private static let json = Entry(JSONMessageAdapter.standard)
    private static let text = (
        listed: Entry(TextMessageAdapter()), added: Entry(TextMessageAdapter(), isLastResort: true)
    )
    private static let data = (
        listed: Entry(DataMessageAdapter()), added: Entry(DataMessageAdapter(), isLastResort: true)
    )

    private static let standard = [json, text.listed, data.listed]

    private let entries: [Entry]
    /// True if all adapters are from this package. Then text and bytes are sent as the payload, and no adapter is
    /// tried, because the package's adapters for `Codable` types refuse text and bytes.
    let leavesRawPayloadsAlone: Bool
    /// The rules. Filters are UTF-8 bytes, so that they can be compared with topics quickly.
    private let rules: [(filter: ContiguousArray<UInt8>, mediaType: MediaType)]

    /// Makes a registry from adapters, in the order in which they are tried, and from rules.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` if a rule has an illegal filter or a content type that no
    ///   adapter has, or if there are too many adapters or rules.
    init(_ adapters: [any MessageAdapter], rules: [AdapterRule] = []) throws(CourierError) {
        guard adapters.count <= Self.adapterLimit, rules.count <= Self.ruleLimit else {
            throw CourierError(
                .invalidConfiguration,
                "There are \(adapters.count) message adapters and \(rules.count) adapter rules; "
                    + "a client may have \(Self.adapterLimit) adapters and \(Self.ruleLimit) rules.")
        }
        var entries = adapters.map { adapter in
            switch adapter {
            case is TextMessageAdapter: Self.text.listed
            case is DataMessageAdapter: Self.data.listed
            case let adapter as JSONMessageAdapter where adapter.isStandard: Self.json
            default: Entry(adapter)
            }
        }
        if !adapters.contains(where: { $0 is TextMessageAdapter }) { entries.append(Self.text.added) }
        if !adapters.contains(where: { $0 is DataMessageAdapter }) { entries.append(Self.data.added) }
        self.entries = entries.elementsEqual(Self.standard, by: ===) ? Self.standard : entries
        leavesRawPayloadsAlone = adapters.allSatisfy { adapter in
            adapter is JSONMessageAdapter || adapter is PlistMessageAdapter || adapter is TextMessageAdapter
                || adapter is DataMessageAdapter
        }
        var checked: [(ContiguousArray<UInt8>, MediaType)] = []
        for rule in rules {
            let mediaType = MediaType(rule.contentType)
            guard entries.contains(where: { !$0.isLastResort && $0.mediaType == mediaType }) else {
                let known = adapters.map { $0.contentType.quoted() }.joined(separator: ", ")
                throw CourierError(
                    .invalidConfiguration,
                    "The adapter rule for \(rule.filter.quoted()) names the content type \(rule.contentType.quoted()), "
                        + "but no message adapter has this content type. "
                        + "The content types of the adapters: \(known.isEmpty ? "none" : known)."
                )
            }
            do {
                checked.append((ContiguousArray(try TopicFilter(rule.filter).matchedString.utf8), mediaType))
            } catch {
                throw CourierError(option: "The adapter rule for \(rule.contentType.quoted())", error)
            }
        }
        self.rules = checked
    }

    /// Encodes a value.
    ///
    /// - Returns: The payload and its content type. If `properties` has no content type, the adapter's content type is
    ///   returned.
    /// - Throws: ``CourierError/Code/encodingFailed``, whose message contains the type, the topic and every adapter's
    ///   reason.
    func encode<Value>(
        _ value: Value, topic: String, properties: MessageProperties = MessageProperties()
    ) throws(CourierError) -> (bytes: [UInt8], contentType: String?) {
        if leavesRawPayloadsAlone, let raw = RawPayload.payload(of: value) {
            return (raw.bytes, properties.contentType ?? raw.contentType)
        }
        if Value.self == Message.self, let message = value as? Message {
            return ([UInt8](message.data), properties.contentType ?? message.properties.contentType)
        }
        let outcome = firstAnswer(type(of: value), topic: topic, contentType: properties.contentType) { entry in
            let data = try entry.adapter.toMessage(data: value, topic: topic)
            return (data.withUnsafeBytes { [UInt8]($0) }, properties.contentType ?? entry.contentType)
        }
        switch outcome {
        case .success(let encoded): return encoded
        case .failure(let refusals):
            throw refusals.error(
                .encodingFailed,
                "No message adapter can encode \(type(of: value)) for the topic \(topic.quoted())",
                remedy: "Add an adapter for this type to messageAdapters, or publish Data")
        }
    }

    /// Decodes a value from a message. If the type is `Message`, returns the message itself.
    ///
    /// - Throws: ``CourierError/Code/decodingFailed``. Its message contains the type, the topic, the size and every
    ///   adapter's reason, but not the payload.
    func decode<Value>(_ type: Value.Type, from message: Message) throws(CourierError) -> Value {
        if leavesRawPayloadsAlone, let value = RawPayload.value(type, of: message) { return value }
        if Value.self == Message.self, let message = message as? Value { return message }
        let contentType = message.properties.contentType
        let (data, topic) = (message.data, message.topic)
        let outcome = firstAnswer(type, topic: topic, contentType: contentType) { entry in
            try entry.adapter.fromMessage(data, topic: topic) as Value
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let refusals):
            let words = contentType.map { " of content type \($0.quoted())" } ?? ""
            throw refusals.error(
                .decodingFailed,
                "No message adapter can decode \(type) from the \(data.count) bytes\(words) on the topic "
                    + topic.quoted(),
                remedy: "Add an adapter for this type to messageAdapters, or read Data")
        }
    }
}

extension AdapterRegistry {
    /// Calls `ask` with each adapter, one after the other, and returns the first result. If every call throws, returns
    /// the errors.
    private func firstAnswer<Answer>(
        _ type: Any.Type, topic: String, contentType: String?, ask: (Entry) throws -> Answer
    ) -> Result<Answer, AdapterRefusals> {
        var refusals = AdapterRefusals()
        func firstAnswer(where isWanted: (Entry) -> Bool) -> Answer? {
            for index in entries.indices {
                let entry = entries[index]
                guard isWanted(entry), !refusals.hasAsked(index) else { continue }
                if entry.isLastResort, !RawPayload.includes(type) { continue }
                do {
                    return try ask(entry)
                } catch {
                    refusals.add(index, entry.contentType, error)
                }
            }
            return nil
        }
        if let contentType {
            // First compare the content types as text, because this is faster than parsing them. Another Courier client
            // usually sends the exact text of an adapter's content type.
            if let answer = firstAnswer(where: { $0.contentType == contentType }) { return .success(answer) }
            let mediaType = MediaType(contentType)
            if let answer = firstAnswer(where: { $0.mediaType == mediaType }) { return .success(answer) }
        }
        if let mediaType = ruleMediaType(for: topic),
            let answer = firstAnswer(where: { $0.mediaType == mediaType })
        {
            return .success(answer)
        }
        if let answer = firstAnswer(where: { _ in true }) { return .success(answer) }
        return .failure(refusals)
    }

    /// Returns the media type of the first rule that matches a topic; `nil` if no rule matches.
    private func ruleMediaType(for topic: String) -> MediaType? {
        guard !rules.isEmpty else { return nil }
        return topic.withUTF8Span { topic in
            rules.first { TopicFilter.matches($0.filter.span, topic) }?.mediaType
        }
    }
}
