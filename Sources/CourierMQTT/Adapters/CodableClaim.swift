import CourierCore

/// Decides which values the adapters for `Codable` types accept: all values except text and bytes (see ``RawPayload``).
enum CodableClaim {
    /// Casts a value to `Encodable`. Throws if the value is not `Encodable`, or if it is text or bytes.
    static func encodable<Value>(_ value: Value) throws(CourierError) -> any Encodable {
        guard let encodable = value as? any Encodable else {
            throw CourierError(.encodingFailed, "\(type(of: value)) is not Encodable")
        }
        if RawPayload.includes(type(of: encodable)) {
            throw CourierError(.encodingFailed, "TextMessageAdapter handles String and DataMessageAdapter handles Data")
        }
        return encodable
    }

    /// Casts a type to `Decodable`. Throws if the type is not `Decodable`, or if it is a type of text or bytes.
    static func decodable<Value>(_ type: Value.Type) throws(CourierError) -> any Decodable.Type {
        if RawPayload.includes(type) {
            throw CourierError(.decodingFailed, "TextMessageAdapter handles String and DataMessageAdapter handles Data")
        }
        guard let decodable = type as? any Decodable.Type else {
            throw CourierError(.decodingFailed, "\(type) is not Decodable")
        }
        return decodable
    }

    /// Casts a decoded value to the requested type. The cast is cheap, because the value already has this type.
    static func value<Decoded, Value>(_ decoded: Decoded) throws(CourierError) -> Value {
        guard let value = decoded as? Value else {
            throw CourierError(.decodingFailed, "\(Decoded.self) is not \(Value.self)")
        }
        return value
    }
}
