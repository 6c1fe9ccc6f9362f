import CourierCore
import Foundation

/// A coder of Foundation that writes values of any `Codable` type; they have no protocol in common.
protocol PayloadEncoder: Sendable {
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// A coder of Foundation that reads them.
protocol PayloadDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONEncoder: PayloadEncoder {}
extension JSONDecoder: PayloadDecoder {}
extension PropertyListEncoder: PayloadEncoder {}

/// Reads property lists that keep ``PlistLimits``.
struct LimitedPlistDecoder: PayloadDecoder {
    let decoder: PropertyListDecoder

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try PlistLimits.check(data)
        return try decoder.decode(type, from: data)
    }
}

/// What the adapters for `Codable` types do alike, whatever the format: they ask ``CodableClaim``, then their coders.
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
