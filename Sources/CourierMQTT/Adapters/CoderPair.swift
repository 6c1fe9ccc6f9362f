import CourierCore
import Foundation

/// An encoder for any `Encodable` type. Foundation's encoders have no common protocol, so this package makes them
/// conform to this protocol.
protocol PayloadEncoder: Sendable {
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// A decoder for any `Decodable` type. Foundation's decoders have no common protocol, so this package makes them
/// conform to this protocol.
protocol PayloadDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONEncoder: PayloadEncoder {}
extension JSONDecoder: PayloadDecoder {}
extension PropertyListEncoder: PayloadEncoder {}

/// Decodes property lists, and refuses lists that exceed the ``PlistLimits``.
struct LimitedPlistDecoder: PayloadDecoder {
    let decoder: PropertyListDecoder

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try PlistLimits.check(data)
        return try decoder.decode(type, from: data)
    }
}

/// The encoder and the decoder of an adapter for `Codable` types. Each call checks the type with ``CodableClaim``
/// before it uses the coder.
struct CoderPair<Encoder: PayloadEncoder, Decoder: PayloadDecoder>: Sendable {
    let encoder: Encoder
    let decoder: Decoder

    func payload<Value>(of value: Value) throws -> Data { try encoder.encode(CodableClaim.encodable(value)) }

    func value<Value>(from payload: Data) throws -> Value {
        try read(CodableClaim.decodable(Value.self), from: payload)
    }

    private func read<Decoded: Decodable, Value>(_ type: Decoded.Type, from payload: Data) throws -> Value {
        try CodableClaim.value(decoder.decode(type, from: payload))
    }
}
