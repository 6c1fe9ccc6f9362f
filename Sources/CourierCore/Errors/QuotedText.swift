extension String {
    /// Returns the text in quotation marks, for an error message. Escapes characters that move a terminal's cursor or
    /// change the direction of text. Cuts a text of more than `limit` Unicode scalars, and appends the size of the
    /// whole text in bytes.
    package func quoted(limit: Int = 80) -> String {
        var shown = "\""
        var scalars = unicodeScalars.makeIterator()
        for _ in 0..<limit {
            guard let scalar = scalars.next() else { return shown + "\"" }
            shown += scalar.quoted
        }
        return scalars.next() == nil ? shown + "\"" : shown + "\"… (\(utf8.count) bytes)"
    }

    /// The host as logs and descriptions show it. The part before the last `@` becomes `<hidden>`, because it may
    /// contain the password of a URL that the app passed as the host. The path of a Unix socket is not changed.
    package var shownHost: String {
        guard let at = utf8.lastIndex(of: UInt8(ascii: "@")), at != startIndex, utf8.first != UInt8(ascii: "/") else {
            return self
        }
        return "<hidden>" + self[at...]
    }
}

extension Unicode.Scalar {
    fileprivate var quoted: String {
        if self == "'" { return "'" }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: escaped(asASCII: true)
        default: escaped(asASCII: false)
        }
    }
}
