extension String {
    /// As much of its beginning as has at most so many bytes of UTF-8. Characters are no measure of foreign text: one of
    /// them may have any number of marks.
    func prefix(bytes limit: Int) -> String {
        if utf8.count <= limit { return self }
        // An index within a scalar is taken for that of the scalar.
        return String(self[..<utf8.index(startIndex, offsetBy: max(0, limit))])
    }
}
