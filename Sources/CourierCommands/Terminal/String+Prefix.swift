extension String {
    /// Returns the longest prefix with at most this many bytes of UTF-8.
    ///
    /// The limit counts bytes because one character of untrusted text may have any number of combining marks.
    func prefix(bytes limit: Int) -> String {
        if utf8.count <= limit { return self }
        // If the index is inside a Unicode scalar, the slice ends before that scalar.
        return String(self[..<utf8.index(startIndex, offsetBy: max(0, limit))])
    }
}
