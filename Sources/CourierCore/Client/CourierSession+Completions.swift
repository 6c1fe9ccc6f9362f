public import Foundation

extension CourierSession {
    /// Publishes bytes without an adapter, and returns before the message is sent.
    ///
    /// The message has no content type. To set one, call ``publish(bytes:to:qos:retain:properties:completion:)`` with
    /// properties.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - completion: Called once with the result, on the client's delivery queue; `nil` by default.
    /// - Throws: The errors of ``publish(bytes:to:qos:retain:properties:completion:)``; the completion is then not
    ///   called.
    public func publish(
        bytes: [UInt8], to topic: String, qos: QoS = .one, retain: Bool = false,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)? = nil
    ) throws {
        try publish(
            bytes: bytes, to: topic, qos: qos, retain: retain, properties: .empty, completion: completion)
    }

    /// Publishes data without an adapter, and returns before the message is sent.
    ///
    /// The message carries no content type unless `properties` name one.
    ///
    /// - Parameters:
    ///   - data: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    ///   - completion: Called once with the result, on the client's delivery queue; `nil` by default.
    /// - Throws: The errors of ``publish(bytes:to:qos:retain:properties:completion:)``; the completion is then not
    ///   called.
    public func publish(
        data: Data, to topic: String, qos: QoS = .one, retain: Bool = false,
        properties: MessageProperties = MessageProperties(),
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)? = nil
    ) throws {
        try publish(
            span: data.bytes, to: topic, qos: qos, retain: retain, properties: properties, completion: completion)
    }

    /// Publishes text as UTF-8 without an adapter, and returns before the message is sent.
    ///
    /// The message carries no content type unless `properties` name one.
    ///
    /// - Parameters:
    ///   - text: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    ///   - completion: Called once with the result, on the client's delivery queue; `nil` by default.
    /// - Throws: The errors of ``publish(bytes:to:qos:retain:properties:completion:)``; the completion is then not
    ///   called.
    public func publish(
        text: String, to topic: String, qos: QoS = .one, retain: Bool = false,
        properties: MessageProperties = MessageProperties(),
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)? = nil
    ) throws {
        try text.withUTF8Bytes {
            try publish(
                span: $0, to: topic, qos: qos, retain: retain, properties: properties, completion: completion)
        }
    }
}
