public import CourierCore
public import Foundation

/// Writes and reads text as UTF-8.
///
/// The adapter sends and reads `String` and `Substring` unchanged. It also accepts every type that converts to text and
/// back without loss (`LosslessStringConvertible`): numbers, `Bool`, `Character`, and types of the app. So a sensor's
/// `21.5` can be read as `Double`. Spaces are not removed: `"21.5\n"` is not a number.
public struct TextMessageAdapter: MessageAdapter {
    /// Makes an adapter.
    public init() {}

    /// The content type of text, `text/plain;charset=utf-8`.
    public var contentType: String { "text/plain;charset=utf-8" }

    /// Reads text, and converts it to the requested type.
    ///
    /// - Parameters:
    ///   - message: The bytes of the text.
    ///   - topic: Ignored.
    /// - Returns: The value.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type, the bytes are not UTF-8, or the
    ///   text does not represent a value of the type.
    public func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        guard let type = T.self as? any LosslessStringConvertible.Type else {
            throw CourierError(.decodingFailed, "\(T.self) cannot be text (it is not LosslessStringConvertible)")
        }
        guard let text = String(validating: message, as: UTF8.self) else {
            throw CourierError(.decodingFailed, "the bytes are not well-formed UTF-8")
        }
        if let text = text as? T { return text }
        // Check the length here, because `Character.init` traps if the text is not exactly one character.
        if T.self == Character.self, text.count != 1 {
            throw CourierError(.decodingFailed, "the text is not one Character")
        }
        guard let value = type.init(text) as? T else {
            throw CourierError(.decodingFailed, "the text is not a valid \(T.self)")
        }
        return value
    }

    /// Writes a text, or a value as text.
    ///
    /// - Parameters:
    ///   - data: The text, or a value that converts to text without loss.
    ///   - topic: Ignored.
    /// - Returns: The bytes of the text.
    /// - Throws: ``CourierCore/CourierError`` if the adapter does not support the type.
    public func toMessage<T>(data: T, topic: String) throws -> Data {
        if let text = data as? String { return Data(text.utf8) }
        guard let value = data as? any LosslessStringConvertible else {
            throw CourierError(
                .encodingFailed, "\(type(of: data)) cannot become text (it is not LosslessStringConvertible)")
        }
        return Data(value.description.utf8)
    }
}
