import CourierCore
import Foundation

/// Encodes and decodes the values of a ``FakeClient``. `Data` is not converted. Other values use the first adapter that
/// can convert them, or JSON.
struct FakeCoding: Sendable {
    let adapters: [any MessageAdapter]

    func encode<Value>(_ value: Value, to topic: String) throws -> Data {
        if let data = value as? Data { return data }
        for adapter in adapters {
            if let data = try? adapter.toMessage(data: value, topic: topic) { return data }
        }
        guard let value = value as? any Encodable else {
            throw CourierError(
                .encodingFailed,
                "\(Value.self) for the topic \(topic.quoted()) is not Encodable; give FakeClient an adapter for it.")
        }
        do {
            return try JSONEncoder().encode(value)
        } catch {
            throw CourierError(
                .encodingFailed, "\(Value.self) for the topic \(topic.quoted()) cannot be encoded as JSON.",
                cause: error)
        }
    }

    func decode<Value>(_ type: Value.Type, from message: Message) -> Value? {
        if let message = message as? Value { return message }
        if let data = message.data as? Value { return data }
        if let whole = type as? any ValueWithMessage.Type { return decodeWhole(whole, from: message) as? Value }
        for adapter in adapters {
            if let value: Value = try? adapter.fromMessage(message.data, topic: message.topic) { return value }
        }
        guard let type = type as? any Decodable.Type else { return nil }
        return try? JSONDecoder().decode(type, from: message.data) as? Value
    }

    /// Decodes a value together with its message, such as `Received<Note>`. Returns `nil` if the value cannot be
    /// decoded.
    private func decodeWhole<Whole: ValueWithMessage>(_: Whole.Type, from message: Message) -> (any Sendable)? {
        decode(Whole.Value.self, from: message).map { Whole(value: $0, message: message) }
    }
}
