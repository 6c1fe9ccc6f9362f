import CourierCore
import Foundation
import MQTTCodec

extension MessageProperties {
    /// Takes over what a received packet says about its message.
    init(_ properties: PacketProperties) {
        var (contentType, responseTopic): (String?, String?)
        var (correlationData, messageExpiry): (Data?, Duration?)
        var payloadFormat = PayloadFormat.unspecified
        var userProperties: [UserProperty] = []
        var subscriptionIdentifiers: [UInt32] = []
        for property in properties.list {
            switch property {
            case .payloadFormatIndicator(let isText): payloadFormat = isText ? .utf8 : .unspecified
            case .messageExpiryInterval(let seconds): messageExpiry = .seconds(Int64(seconds))
            case .contentType(let type): contentType = type
            case .responseTopic(let topic): responseTopic = topic
            case .correlationData(let bytes): correlationData = Data(bytes)
            case .subscriptionIdentifier(let number): subscriptionIdentifiers.append(number)
            case .userProperty(let name, let value): userProperties.append(UserProperty(name, value))
            default: break  // The others belong to the connection.
            }
        }
        self.init(
            contentType: contentType, payloadFormat: payloadFormat, responseTopic: responseTopic,
            correlationData: correlationData, messageExpiry: messageExpiry, userProperties: userProperties)
        if !subscriptionIdentifiers.isEmpty { self.subscriptionIdentifiers = subscriptionIdentifiers }
    }

    /// How many user properties one message may have; other ends may accept fewer.
    static let userPropertyLimit = 256

    /// Makes sure that MQTT 5 can carry the properties.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage`` with the property and the topic, without its value.
    func check(topic: String, _ texts: WireText) throws(CourierError) {
        func refuse(_ what: String) -> CourierError {
            CourierError(.invalidMessage, "The message to \(topic.quoted()) can not be sent: \(what).")
        }
        func checkText(_ text: String?, _ name: @autoclosure () -> String) throws(CourierError) {
            if let problem = text.flatMap(texts.problem) { throw refuse("its \(name()) \(problem)") }
        }
        try checkText(contentType, "content type")
        if let responseTopic, (try? TopicName(responseTopic)) == nil {
            // [MQTT-3.3.2-14]
            throw refuse(
                "its response topic \(responseTopic.quoted()) is no topic name; give one without wildcards and $share/")
        }
        try checkText(responseTopic, "response topic")
        if let count = correlationData?.count, count > WireText.limit {
            throw refuse("its correlation data has \(count) bytes; at most \(WireText.limit) are allowed")
        }
        if let messageExpiry, WireSeconds(messageExpiry) == nil {
            throw refuse("its expiry is not between 0 and \(UInt32.max) seconds; leave it out for no end")
        }
        let userProperties = userProperties
        guard userProperties.count <= Self.userPropertyLimit else {
            throw refuse(
                "it has \(userProperties.count) user properties; at most \(Self.userPropertyLimit) are allowed")
        }
        for (index, property) in userProperties.enumerated() {
            try checkText(property.name, "user property \(index + 1) has a name that")
            try checkText(property.value, "user property \(index + 1) has a value that")
        }
    }
}

extension MessageProperties {
    /// Appends the properties to `buffer` as PUBLISH carries them: as ``PacketProperties/init(publishing:)``, but
    /// without a list of user properties.
    func encode(into buffer: inout PacketBuffer) throws(EncodeError) {
        let encoder = PacketEncoder(version: .v5, sender: .client)
        let others = PacketProperties(describing: self)
        if !others.isEmpty {
            try encoder.encodePublishProperties(others, hasExpiry: messageExpiry != nil, into: &buffer)
        }
        for property in userProperties {
            try encoder.encodeUserProperty(property.name, property.value, into: &buffer)
        }
    }
}

extension PacketProperties {
    /// The properties of a PUBLISH, without message expiry and topic alias, which are the engine's.
    init(publishing properties: MessageProperties) {
        self.init(describing: properties)
        for property in properties.userProperties {
            append(.userProperty(name: property.name, value: property.value))
        }
    }

    /// The same without user properties.
    fileprivate init(describing properties: MessageProperties) {
        self.init()
        if properties.payloadFormat == .utf8 { append(.payloadFormatIndicator(isText: true)) }
        if let type = properties.contentType { append(.contentType(type)) }
        if let topic = properties.responseTopic { append(.responseTopic(topic)) }
        if let data = properties.correlationData { append(.correlationData([UInt8](data))) }
    }
}
