import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

extension MessageProperties {
    /// Copies the properties of a message from a received packet.
    init(_ properties: PacketProperties) {
        var values = Values()
        for property in properties.list { values.add(property) }
        self.init(values)
    }

    /// Decodes the properties of a received PUBLISH, which the engine has checked.
    static let decode: MessagePage.PropertyDecoder = { bytes in
        var values = Values()
        receivedPropertyDecoder.forEachPublishProperty(in: bytes) { values.add($0) }
        return MessageProperties(values)
    }

    /// The largest number of user properties of one message. A broker or another client may accept fewer.
    static let userPropertyLimit = 256

    /// Checks that MQTT 5 can carry the properties.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage``. Its message names the property and the topic, but not the
    ///   property's value.
    func check(topic: String, _ texts: WireText) throws(CourierError) {
        func refuse(_ what: String) -> CourierError {
            CourierError(.invalidMessage, "The message to \(topic.quoted()) cannot be sent: \(what).")
        }
        func checkText(_ text: String?, _ name: @autoclosure () -> String) throws(CourierError) {
            if let problem = text.flatMap(texts.problem) { throw refuse("the \(name()) \(problem)") }
        }
        try checkText(contentType, "content type")
        if let responseTopic, (try? TopicName(responseTopic)) == nil {
            // A response topic must not contain wildcards [MQTT-3.3.2-14].
            throw refuse(
                "the response topic \(responseTopic.quoted()) is not a topic name; remove wildcards and $share/"
            )
        }
        try checkText(responseTopic, "response topic")
        if let count = correlationData?.count, count > WireText.limit {
            throw refuse("the correlation data has \(count) bytes; at most \(WireText.limit) are allowed")
        }
        if let messageExpiry, WireSeconds(messageExpiry) == nil {
            throw refuse(
                "the message expiry is not between 0 and \(UInt32.max) seconds; without an expiry, the message never expires"
            )
        }
        guard let problem = userProperties.problem(texts) else { return }
        throw CourierError(.invalidMessage, "The message to \(topic.quoted()) cannot be sent: it \(problem).")
    }
}

/// Decodes properties of received packets. The number of properties has no limit here, because the engine has already
/// checked the packet.
let receivedPropertyDecoder = PacketDecoder(
    version: .v5, sender: .server, limits: PacketDecoder.Limits(maximumProperties: .max))

extension MessageProperties.Values {
    /// When the first user property is added, memory for this number of user properties is reserved. Few messages have
    /// more.
    private static let expectedUserProperties = 4

    /// Adds a property of a received packet if the property belongs to the message.
    fileprivate mutating func add(_ property: Property) {
        switch property {
        case .payloadFormatIndicator(let isText): payloadFormat = isText ? .utf8 : .unspecified
        case .messageExpiryInterval(let seconds): messageExpiry = .seconds(Int64(seconds))
        case .contentType(let type): contentType = type
        case .responseTopic(let topic): responseTopic = topic
        case .correlationData(let bytes): correlationData = Data(bytes)
        case .subscriptionIdentifier(let number): subscriptionIdentifiers.append(number)
        case .userProperty(let name, let value):
            if userProperties.isEmpty { userProperties.reserveCapacity(Self.expectedUserProperties) }
            userProperties.append(MessageProperties.UserProperty(name, value))
        default: break  // All other properties belong to the packet or the connection, not to the message.
        }
    }
}

extension MessageProperties {
    /// Appends the properties of a PUBLISH to `buffer`. The bytes are the same as those of
    /// ``PacketProperties/init(publishing:)``. Many messages have a content type and user properties. To save time,
    /// these properties are written directly to `buffer`, and no `PacketProperties` value is made for them.
    func encode(into buffer: inout PacketBuffer) throws(EncodeError) {
        guard let box else { return }
        let encoder = PacketEncoder(version: .v5, sender: .client)
        if let type = box.values.contentType { try encoder.encodeContentType(type, into: &buffer) }
        let others = PacketProperties(describing: box)
        if !others.isEmpty {
            try encoder.encodePublishProperties(others, hasExpiry: messageExpiry != nil, into: &buffer)
        }
        // Read the user properties in place, so that no text is copied.
        try box.values.userProperties.withUnsafeBufferPointer { properties throws(EncodeError) in
            for index in properties.indices {
                try encoder.encodeUserProperty(properties[index].name, properties[index].value, into: &buffer)
            }
        }
    }
}

extension PacketProperties {
    /// Makes the properties of a PUBLISH, without message expiry and topic alias. The engine adds these two.
    init(publishing properties: MessageProperties) {
        self.init()
        guard let box = properties.box else { return }
        if let type = box.values.contentType { append(.contentType(type)) }
        for property in PacketProperties(describing: box).list { append(property) }
        for property in box.values.userProperties {
            append(.userProperty(name: property.name, value: property.value))
        }
    }

    /// Makes the properties of a PUBLISH without content type, user properties, message expiry and topic alias.
    fileprivate init(describing box: MessageProperties.Box) {
        self.init()
        if box.values.payloadFormat == .utf8 { append(.payloadFormatIndicator(isText: true)) }
        if let topic = box.values.responseTopic { append(.responseTopic(topic)) }
        if let data = box.values.correlationData { append(.correlationData([UInt8](data))) }
    }
}
