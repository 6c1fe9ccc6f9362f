extension Unicode.Scalar {
    /// Returns a scalar that a literal cannot contain, such as a noncharacter. Returns U+FFFD for a surrogate.
    package static func of(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(value) ?? "\u{FFFD}" }
}
