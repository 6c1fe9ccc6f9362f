extension String {
    /// Quotes foreign text for an error message: what moves a terminal's cursor or turns the direction of text escaped,
    /// cut after `limit` Unicode scalars, 80 by default.
    package func quoted(limit: Int = 80) -> String {
        var shown = "\""
        var scalars = unicodeScalars.makeIterator()
        for _ in 0..<limit {
            guard let scalar = scalars.next() else { return shown + "\"" }
            shown += scalar.quoted
        }
        return scalars.next() == nil ? shown + "\"" : shown + "\"… (\(utf8.count) bytes)"
    }

    /// A host for a log: without the part in front of `@`, which is a password if the app passed a URL.
    /// Paths of sockets stay as they are.
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
