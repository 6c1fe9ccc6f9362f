import CourierCore

/// Turns received messages into values of one type.
struct ValueDecoder<Value: Sendable>: Sendable {
    private let registry: AdapterRegistry

    init(_ registry: AdapterRegistry) { self.registry = registry }

    /// The value of a message; `part` goes along with a value that is a `Message`.
    func decode(_ message: ReceivedMessage, _ part: AcknowledgementPart?) throws -> Value {
        try registry.decode(Value.self, from: message.message(acknowledgedBy: part))
    }
}
