public import CourierCore
public import Foundation

/// The message that the broker publishes if the client's connection ends without DISCONNECT.
///
/// ```swift
/// config.will = WillMessage(topic: "meters/7/status", text: "offline", qos: .one, isRetained: true)
/// ```
public struct WillMessage: Hashable, Sendable {
    /// The topic that the will is published to, without wildcards.
    public var topic: String

    /// The payload of the will, at most 65,535 bytes.
    public var payload: Data

    /// The quality of service of the will. Only its level 0, 1 or 2 is sent. An offline subscriber never gets a will of
    /// QoS 0, so set QoS 1 for an important will.
    public var qos: QoS

    /// Whether the broker keeps the will as a retained message for later subscribers.
    public var isRetained: Bool

    /// How long the broker waits for the client to reconnect before it publishes the will, in whole seconds. The delay
    /// needs MQTT 5. With an earlier version, the broker does not wait.
    public var delay: Duration

    /// The properties of the will; MQTT 5 only.
    public var properties: MessageProperties

    /// Makes a will. Its values are checked when the client is made.
    ///
    /// - Parameters:
    ///   - topic: The topic that the will is published to.
    ///   - payload: The payload.
    ///   - qos: The quality of service; `.zero` by default.
    ///   - isRetained: Whether the broker keeps the will as a retained message; `false` by default.
    ///   - delay: How long the broker waits before it publishes the will; zero by default.
    ///   - properties: The properties of the will; empty by default.
    public init(
        topic: String,
        payload: Data,
        qos: QoS = .zero,
        isRetained: Bool = false,
        delay: Duration = .zero,
        properties: MessageProperties = MessageProperties()
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.delay = delay
        self.properties = properties
    }

    /// Makes a will with a text payload.
    ///
    /// - Parameters:
    ///   - topic: The topic that the will is published to.
    ///   - text: The payload, sent as UTF-8.
    ///   - qos: The quality of service; `.zero` by default.
    ///   - isRetained: Whether the broker keeps the will as a retained message; `false` by default.
    ///   - delay: How long the broker waits before it publishes the will; zero by default.
    ///   - properties: The properties of the will; empty by default.
    public init(
        topic: String,
        text: String,
        qos: QoS = .zero,
        isRetained: Bool = false,
        delay: Duration = .zero,
        properties: MessageProperties = MessageProperties()
    ) {
        self.init(
            topic: topic, payload: Data(text.utf8), qos: qos, isRetained: isRetained, delay: delay,
            properties: properties)
    }
}

extension WillMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the topic, the quality of service and the payload's size, but never the payload.
    public var description: String {
        "WillMessage(\(topic.quoted()), qos: \(qos), \(payload.count) bytes\(isRetained ? ", retained" : ""))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same text as ``description``, so that `dump` and debuggers do not show the payload.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "topic": topic, "qos": qos, "payload": "\(payload.count) bytes", "isRetained": isRetained,
            ],
            displayStyle: .struct)
    }
}
