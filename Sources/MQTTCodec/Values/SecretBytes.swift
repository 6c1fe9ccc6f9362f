/// Secret bytes that must not appear in logs: a password, or data of an authentication exchange.
///
/// Printing, interpolating, dumping and reflecting this value show only the number of bytes.
public struct SecretBytes: Hashable, Sendable {
    /// The secret itself.
    public var bytes: [UInt8]

    /// Wraps `bytes`.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Wraps the UTF-8 bytes of `text`.
    public init(_ text: String) { bytes = Array(text.utf8) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible {
    /// A placeholder text that contains only the number of bytes.
    public var description: String { "<\(bytes.count) secret bytes>" }
    /// The same placeholder as `description`.
    public var debugDescription: String { description }
}

// Embedded Swift has no mirrors, so only the descriptions above can show a value.
#if !hasFeature(Embedded)
    extension SecretBytes: CustomReflectable {
        /// A mirror without children, so that `dump` also shows only the placeholder.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
