import CourierCore
import MQTTEngine

/// Stored messages that this client does not send. An older version may have stored texts that end connections.
extension DurableOutbox {
    /// The reason why the client does not send a message of an earlier process; `nil` when it may send the message.
    func refusal(of message: StoredMessage) -> CourierError? {
        // The call that stored a message of this process has checked it.
        guard message.id.rawValue <= lastOfEarlierProcess else { return nil }
        do throws(CourierError) {
            try texts.check(topicName: message.topic)
            try message.properties.check(topic: message.topic, texts)
            return nil
        } catch {
            return error
        }
    }

    /// Ends a message that the client does not send, and removes it from the store. Its event carries the whole message.
    func reject(_ message: StoredMessage, _ error: CourierError) {
        ends.failed(message.topic, message.qos, message.payload.count, error)
        rejected(message, error)
        steps.add(.removeOutgoing(message.id))
    }
}
