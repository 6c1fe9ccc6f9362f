/// Bytes that must not be read by anybody but the peer: a password, or data of an authentication exchange.
///
/// Printing, interpolating, dumping and reflecting it show the number of bytes and nothing else.
public struct SecretBytes: Hashable, Sendable {
    /// The secret itself.
    public var bytes: [UInt8]

    /// Wraps `bytes`.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Wraps the UTF-8 bytes of `text`.
    public init(_ text: String) { bytes = Array(text.utf8) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder that names the number of bytes.
    public var description: String { "<\(bytes.count) secret bytes>" }
    /// The same placeholder.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows the placeholder too.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
