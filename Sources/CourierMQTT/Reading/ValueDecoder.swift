import CourierCore
import Foundation

/// Decodes received messages to values of one type. The initializer chooses the decoding function once for all
/// messages.
struct ValueDecoder<Value: Sendable>: Sendable {
    private typealias Decode = @Sendable (Message) throws -> Value
    private typealias DecodeAll = @Sendable ([MessageSlice]) -> [Value]

    private let body: Decode
    /// Converts a whole batch at once. Only used if `Value` is `Message`, which needs no decoding; otherwise `nil`.
    private let all: DecodeAll?

    /// Creates a decoder. If `Value` is not `Message`, the adapters of `registry` decode the messages.
    init(_ registry: AdapterRegistry) {
        let asItCame: @Sendable (Message) throws -> Message = { $0 }
        let data: @Sendable (Message) throws -> Data = { $0.data }
        let bytes: @Sendable (Message) throws -> [UInt8] = { $0.bytes }
        // A cast to `Decode` succeeds only if the closure returns a `Value`. So these casts select the closure for the
        // type `Value`.
        if let decode = (asItCame as Any) as? Decode {
            body = decode
            let allAsTheyCame: @Sendable ([MessageSlice]) -> [Message] = { $0.messages }
            all = (allAsTheyCame as Any) as? DecodeAll
            return
        }
        all = nil
        if let whole = Value.self as? any ValueWithMessage.Type, let decode = Self.decode(whole, registry) {
            body = decode
        } else if registry.leavesRawPayloadsAlone, let decode = (data as Any) as? Decode ?? (bytes as Any) as? Decode {
            body = decode
        } else {
            body = { try registry.decode(Value.self, from: $0) }
        }
    }

    /// Returns a function that decodes a value together with its message.
    private static func decode<Whole: ValueWithMessage>(_: Whole.Type, _ registry: AdapterRegistry) -> Decode? {
        let decoder = ValueDecoder<Whole.Value>(registry)
        let decode: @Sendable (Message) throws -> Whole = { Whole(value: try decoder.decode($0), message: $0) }
        return (decode as Any) as? Decode
    }

    /// Decodes a message. If `Value` is `Message`, the message itself is returned.
    func decode(_ message: Message) throws -> Value { try body(message) }

    /// Decodes messages that need no acknowledgement. `report` is called for each message that cannot be decoded, with
    /// the number of values that were decoded before it.
    func decode(_ slices: [MessageSlice], report: (ReceivedMessage, any Error, Int) -> Void) -> [Value] {
        if let all { return all(slices) }
        var values: [Value] = []
        values.reserveCapacity(slices.reduce(0) { $0 + $1.count })
        for slice in slices {
            for message in slice {
                do { values.append(try body(message.message())) } catch { report(message, error, values.count) }
            }
        }
        return values
    }
}

extension [MessageSlice] {
    /// The messages of all slices, as values for the app.
    fileprivate var messages: [Message] {
        var messages: [Message] = []
        messages.reserveCapacity(reduce(0) { $0 + $1.count })
        for slice in self { slice.append(to: &messages) }
        return messages
    }
}

extension Message {
    /// A copy of the payload as an array.
    fileprivate var bytes: [UInt8] { withBytes { bytes in bytes.withUnsafeBytes { [UInt8]($0) } } }
}
