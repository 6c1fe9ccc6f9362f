import CourierCore

/// Turns received messages into values of one type; how is decided once for each reader.
struct ValueDecoder<Value: Sendable>: Sendable {
    private typealias Decode = @Sendable (ReceivedMessage, AcknowledgementPart?) throws -> Value

    private let body: Decode

    /// Decodes by `registry`, which a reader of `Message` does not need.
    init(_ registry: AdapterRegistry) {
        let asItCame: @Sendable (ReceivedMessage, AcknowledgementPart?) throws -> Message = { message, part in
            message.message(acknowledgedBy: part)
        }
        // The same function when `Value` is `Message`, and none otherwise.
        body =
            (asItCame as Any) as? Decode
            ?? { message, part in try registry.decode(Value.self, from: message.message(acknowledgedBy: part)) }
    }

    /// The value of a message; `part` goes along with a value that is a `Message`.
    func decode(_ message: ReceivedMessage, _ part: AcknowledgementPart?) throws -> Value { try body(message, part) }
}
