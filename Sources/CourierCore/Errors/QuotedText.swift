extension String {
    /// Quotes foreign text for an error message: control characters escaped, cut after `limit` characters, 80 by
    /// default.
    package func quoted(limit: Int = 80) -> String {
        let shown = prefix(limit)
        return shown.endIndex == endIndex
            ? String(shown).debugDescription : "\(String(shown).debugDescription)… (\(utf8.count) bytes)"
    }
}
