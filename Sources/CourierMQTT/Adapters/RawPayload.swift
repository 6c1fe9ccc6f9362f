import Foundation

/// The types whose values are sent as the payload without encoding: text and bytes.
///
/// Text and bytes are sent and read unchanged, unless an adapter of the app accepts these types. Every other `Codable`
/// value is written in the adapter's format. So a JSON document can be published as a `String` without being quoted
/// again.
enum RawPayload {
    /// Returns whether values of `type` are sent unchanged.
    static func includes(_ type: Any.Type) -> Bool { isBytes(type) || isText(type) }

    private static func isBytes(_ type: Any.Type) -> Bool { type == Data.self || type == [UInt8].self }
    private static func isText(_ type: Any.Type) -> Bool { type == String.self || type == Substring.self }

    /// Returns the payload of text or bytes, and the content type of the adapter for text or bytes; `nil` for other
    /// types.
    ///
    /// The types are compared before a cast, because a failing cast costs much more than a comparison.
    static func payload<Value>(of value: Value) -> (bytes: [UInt8], contentType: String)? {
        if isBytes(Value.self) {
            let contentType = DataMessageAdapter().contentType
            if let bytes = same(value, [UInt8].self) { return (bytes, contentType) }
            if let data = same(value, Data.self) { return (data.withUnsafeBytes { [UInt8]($0) }, contentType) }
        } else if isText(Value.self) {
            let contentType = TextMessageAdapter().contentType
            if let text = same(value, String.self) { return ([UInt8](text.utf8), contentType) }
            if let text = value as? Substring { return ([UInt8](text.utf8), contentType) }
        }
        return nil
    }

    /// Returns the value if its type is exactly `Raw`; otherwise `nil`. A cast would cost several times as much as this
    /// comparison, because a cast may also convert the value.
    private static func same<Value, Raw>(_ value: Value, _ type: Raw.Type) -> Raw? {
        guard Value.self == Raw.self else { return nil }
        // Safe, because `Value` and `Raw` are the same type: the guard has checked this.
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Raw.self).pointee }
    }

    /// Returns the payload as text or bytes; `nil` for other types, and for a text type if the payload is not UTF-8.
    static func value<Value>(_ type: Value.Type, of message: Message) -> Value? {
        if type == Data.self { return message.data as? Value }
        if type == [UInt8].self { return message.withBytes { $0.withUnsafeBytes { [UInt8]($0) } } as? Value }
        guard isText(type), let text = message.payloadString else { return nil }
        return type == String.self ? text as? Value : text[...] as? Value
    }
}
