import Foundation

/// The types that mean the payload itself and not a value to be written in some format.
///
/// The rule for users: text and bytes are the payload as it stands, unless an adapter of the app's own takes them; every
/// other `Codable` value is written in the adapter's format. So a JSON document can be published and read as `String`, and
/// is never wrapped in quotes a second time.
enum RawPayload {
    /// Whether values of `type` are payloads as they stand.
    static func includes(_ type: Any.Type) -> Bool { isBytes(type) || isText(type) }

    private static func isBytes(_ type: Any.Type) -> Bool { type == Data.self || type == [UInt8].self }
    private static func isText(_ type: Any.Type) -> Bool { type == String.self || type == Substring.self }

    /// The payload that a value of these types is, and the content type of its adapter; `nil` for other types.
    ///
    /// The types are compared before a cast is tried, because a cast that fails costs much more.
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

    /// The value, if it has this very type: a cast, which may also have to convert, costs several times as much.
    private static func same<Value, Raw>(_ value: Value, _ type: Raw.Type) -> Raw? {
        guard Value.self == Raw.self else { return nil }
        // Safe, because the two are one type.
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Raw.self).pointee }
    }

    /// The value that a payload is; `nil` for other types, and for bytes that are not UTF-8 where text is wanted.
    static func value<Value>(_ type: Value.Type, of message: Message) -> Value? {
        if type == Data.self { return message.data as? Value }
        if type == [UInt8].self { return message.withBytes { $0.withUnsafeBytes { [UInt8]($0) } } as? Value }
        guard isText(type), let text = message.payloadString else { return nil }
        return type == String.self ? text as? Value : text[...] as? Value
    }
}
