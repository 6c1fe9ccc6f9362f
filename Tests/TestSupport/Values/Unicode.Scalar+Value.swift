extension Unicode.Scalar {
    /// The scalar of a value that a literal cannot hold, such as a non-character; U+FFFD for a surrogate.
    package static func of(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(value) ?? "\u{FFFD}" }
}
