public import Foundation

/// The body of a request to a token endpoint: its bytes and their media type.
///
/// Its descriptions and its mirror do not show the bytes.
public struct TokenRequestBody: Hashable, Sendable {
    /// The bytes.
    public let data: Data
    /// The media type, as in the header field `Content-Type`.
    public let contentType: String

    /// Creates a body from bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type.
    public init(_ data: Data, contentType: String) {
        self.data = data
        self.contentType = contentType
    }

    /// Creates a JSON body from an encodable value.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder; a plain `JSONEncoder` by default.
    /// - Returns: The body with the media type `application/json`.
    /// - Throws: The encoder's error.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> TokenRequestBody {
        TokenRequestBody(try encoder.encode(value), contentType: "application/json")
    }

    /// Creates a body of form fields, as OAuth 2.0 token endpoints expect it.
    ///
    /// - Parameter fields: The fields by name. They are written in the order of their names.
    /// - Returns: The body with the media type `application/x-www-form-urlencoded`.
    public static func form(_ fields: [String: String]) -> TokenRequestBody {
        let pairs = fields.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
        return TokenRequestBody(
            Data(pairs.joined(separator: "&").utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// Encodes text for a form: a space as `+`, and each byte except letters, digits, `*`, `-`, `.` and `_` as `%XX`.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: " "): result += "+"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}

extension TokenRequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of bytes and the media type.
    public var description: String { "TokenRequestBody(\(data.count) bytes of \(contentType))" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}
