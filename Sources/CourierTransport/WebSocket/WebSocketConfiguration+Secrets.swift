extension WebSocketConfiguration {
    /// What is shorter is no secret, and stands in many a text.
    private static let shortestSecret = 4

    /// What stands in many a header field and says nothing.
    private static let openWords: Set<String> = ["http", "https", "bearer", "basic"]

    /// Text of the peer's for a message, unless it repeats what may be a secret: a part of a header field's value or of a
    /// value of the query, percent-encoded or not.
    func quoted(_ text: some StringProtocol) -> String {
        let plain = String(text)
        let readings = [plain, Substring(plain).percentDecoded ?? plain]
        let repeats = secrets.contains { secret in readings.contains { $0.contains(secret) } }
        return repeats ? "<hidden>" : "“\(HTTPHead.shown(text))”"
    }

    /// The values, and what they are put together from, as in a cookie.
    private var secrets: [Substring] {
        let query = path.drop { $0 != "?" }.dropFirst().split(separator: "&")
        let values =
            headers.values.flatMap { $0.split(separator: " ") }
            + query.compactMap { $0.split(separator: "=", maxSplits: 1).last }
        let readings = values + values.compactMap { $0.percentDecoded.map { Substring($0) } }
        let parts = readings + readings.flatMap { $0.split(whereSeparator: Self.isSeparator) }
        return parts.filter { $0.utf8.count >= Self.shortestSecret && !Self.openWords.contains($0.lowercased()) }
    }

    /// Whether a token, also one in base 64, does not hold this character.
    private static func isSeparator(_ character: Character) -> Bool {
        !(character.isLetter || character.isNumber || "-._~+/".contains(character))
    }
}
