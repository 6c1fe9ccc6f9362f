import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

/// Checks messages before they are accepted, and creates the errors of refused messages.
extension Publishing {
    func topic(of request: PublishRequest) throws -> String {
        try request.topic.exactName ?? request.topic.name(for: identity).string
    }

    /// Checks the parts of a message, and returns the message.
    func message(
        to topic: String, _ qos: QoS, isRetained: Bool = false, isLatestOnly: Bool = false,
        _ properties: MessageProperties = MessageProperties(), contentType: String? = nil
    ) throws(CourierError) -> OutgoingPublish {
        if !texts.allows(topicName: topic) { try check(topic: topic) }
        guard let tracing else {
            return try uncheckedMessage(to: topic, qos, isRetained, isLatestOnly, properties, contentType)
        }
        return try uncheckedMessage(
            to: topic, qos, isRetained, isLatestOnly, tracing.traced(properties, to: topic), contentType)
    }

    /// Returns the message after checking its properties. The caller has already checked the topic.
    @inline(__always)
    private func uncheckedMessage(
        to topic: String, _ qos: QoS, _ isRetained: Bool, _ isLatestOnly: Bool, _ properties: MessageProperties,
        _ contentType: String?
    ) throws(CourierError) -> OutgoingPublish {
        var publish = OutgoingPublish(topic: topic, qos: qos, isRetained: isRetained, isLatestOnly: isLatestOnly)
        publish.isObserved = results.isObserved
        guard contentType != nil || !properties.isEmpty else { return publish }
        if !properties.isEmpty { try properties.check(topic: topic, texts) }
        try check(contentType: contentType, topic)
        guard let contentType, properties.contentType == nil else {
            publish.properties = properties
            return publish
        }
        if properties.isEmpty {
            publish.contentType = contentType
        } else {
            publish.properties = properties
            publish.properties.contentType = contentType
        }
        return publish
    }

    /// Checks a topic name before a message is published to it.
    func check(topic: String) throws(CourierError) {
        _ = try TopicName(topic)
        try texts.check(topicName: topic)
    }

    /// Checks a content type. The content type comes from an adapter, or from a received message that the app publishes
    /// again.
    private func check(contentType: String?, _ topic: String) throws(CourierError) {
        guard let contentType, let problem = texts.problem(contentType) else { return }
        throw CourierError(
            .invalidMessage, "The message to \(topic.quoted()) cannot be sent: its content type \(problem).")
    }

    /// Returns the error for a message that the queue did not accept.
    func error(_ refusal: OutgoingQueue.Refusal, _ publish: borrowing OutgoingPublish) -> CourierError {
        let topic = publish.topic.quoted()
        let policy = queue.policy
        switch refusal {
        case .full(let byteCount, _):
            queue.noteRefusal(of: byteCount)
            return CourierError(
                .queueFull,
                "The message to \(topic) was not accepted: "
                    + "it would exceed the limit of \(policy.maximumCount) waiting messages or \(policy.maximumBytes) bytes. "
                    + "Await readyToPublish(), or raise `offline.maximumCount` or `offline.maximumBytes`."
            )
        case .tooLarge(let byteCount):
            return CourierError(
                .queueFull,
                "The message to \(topic) was not accepted: it has \(byteCount) bytes, "
                    + "and `offline.maximumBytes` is \(policy.maximumBytes). Send less at a time, or raise that limit.")
        case .dropped: return PublishResults.dropped(publish.topic)
        case .notConnected:
            return CourierError(
                .connectionLost,
                "The message to \(topic) was not sent: there is no connection, "
                    + "and messages of QoS 0 do not wait for a connection. "
                    + "Await connected(), use QoS 1, or set `offline.queuesQoS0`.")
        case .noSession:
            return CourierError(
                .sessionMissing,
                "The message to \(topic) cannot be sent: there is no session; call connect() first.")
        case .destroyed: return PublishResults.destroyed(publish.topic)
        case .finished(let error): return error
        case .notEncodable(let error): return CourierError(.notEncodable(error), of: .message(topic: publish.topic))
        }
    }
}
