public import CourierCore
public import Foundation

/// The message that the broker publishes if the client's connection ends without DISCONNECT.
///
/// ```swift
/// config.will = WillMessage(topic: "meters/7/status", text: "offline", qos: .one, isRetained: true)
/// ```
public struct WillMessage: Hashable, Sendable {
    /// The topic it is published to, without wildcards.
    public var topic: String

    /// Its payload, of at most 65,535 bytes.
    public var payload: Data

    /// Its quality of service. Only the level 0, 1 or 2 is sent.
    public var qos: QoS

    /// Whether the broker keeps it for later subscribers.
    public var isRetained: Bool

    /// How long the broker waits for the client to reconnect before it publishes the will, in whole seconds. MQTT 5
    /// only; MQTT 3.1.1 brokers do not wait.
    public var delay: Duration

    /// Its properties; MQTT 5 only.
    public var properties: MessageProperties

    /// Makes a will. It is checked when the client is made.
    ///
    /// - Parameters:
    ///   - topic: The topic it is published to.
    ///   - payload: Its payload.
    ///   - qos: Its quality of service; `.zero` by default.
    ///   - isRetained: Whether the broker keeps it; `false` by default.
    ///   - delay: How long the broker waits with it; not at all by default.
    ///   - properties: Its properties; empty by default.
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
    ///   - topic: The topic it is published to.
    ///   - text: Its payload, sent as UTF-8.
    ///   - qos: Its quality of service; `.zero` by default.
    ///   - isRetained: Whether the broker keeps it; `false` by default.
    ///   - delay: How long the broker waits with it; not at all by default.
    ///   - properties: Its properties; empty by default.
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
    /// Topic, quality of service and size; never the payload.
    public var description: String {
        "WillMessage(\(topic.quoted()), qos: \(qos), \(payload.count) bytes\(isRetained ? ", retained" : ""))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same facts as ``description``, so that `dump` and debuggers show no payload either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "topic": topic, "qos": qos, "payload": "\(payload.count) bytes", "isRetained": isRetained,
            ],
            displayStyle: .struct)
    }
}
