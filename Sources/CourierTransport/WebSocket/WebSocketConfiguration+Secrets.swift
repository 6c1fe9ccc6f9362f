extension WebSocketConfiguration {
    /// The minimum length, in bytes, of a secret that is hidden in texts, because a shorter value occurs too often in
    /// ordinary text.
    private static let shortestSecret = 4

    /// The number of consecutive bytes of a secret at which a text is hidden. So a text with only a part of a secret is
    /// hidden too. This number of bytes fits into a `UInt64`.
    private static let runLength = MemoryLayout<UInt64>.size

    /// Common words in header fields that are not secret.
    private static let openWords: Set<String> = ["http", "https", "bearer", "basic"]

    /// Returns the peer's text in quotation marks for a message, or `<hidden>` if the text may repeat a secret.
    /// Possible secrets are the values of header fields and of the query, and parts of these values, percent-encoded or
    /// not. The text is also hidden if it contains ``runLength`` consecutive bytes from a word of a secret.
    ///
    /// ``headLimit`` bounds the size of the text, and ``requestLimit`` bounds the size of the secrets.
    func quoted(_ text: some StringProtocol) -> String {
        let plain = String(text)
        let secrets = self.secrets
        let secretRuns = Self.runs(in: secrets)
        let repeats = [plain, Substring(plain).percentDecoded ?? plain].contains { reading in
            secrets.contains { reading.contains($0) } || !secretRuns.isDisjoint(with: Self.runs(in: [reading[...]]))
        }
        return repeats ? "<hidden>" : "“\(HTTPHead.shown(text))”"
    }

    /// The texts that may be secret: the values of header fields and of the query, and the parts of each value. For
    /// example, the value of a cookie field has several parts.
    private var secrets: [Substring] {
        let query = path.drop { $0 != "?" }.dropFirst().split(separator: "&")
        let values =
            headers.values.flatMap { $0.split(separator: " ") }
            + query.compactMap { $0.split(separator: "=", maxSplits: 1).last }
        let readings = values + values.compactMap { $0.percentDecoded.map { Substring($0) } }
        let parts = readings + readings.flatMap { $0.split(whereSeparator: Self.isSeparator) }
        return parts.filter { $0.utf8.count >= Self.shortestSecret && !Self.openWords.contains($0.lowercased()) }
    }

    /// Returns true if the character separates tokens. The characters of Base64 separate no tokens, because a token may
    /// be Base64.
    private static func isSeparator(_ character: Character) -> Bool {
        !(character.isLetter || character.isNumber || "-._~+/".contains(character))
    }

    /// Returns all sequences of ``runLength`` consecutive bytes within the words of the texts.
    private static func runs(in texts: [Substring]) -> Set<UInt64> {
        var runs: Set<UInt64> = []
        for text in texts {
            var run: UInt64 = 0
            var count = 0
            for byte in text.utf8 {
                run = run << 8 | UInt64(byte)
                count = isInWord(byte) ? count + 1 : 0
                if count >= runLength { runs.insert(run) }
            }
        }
        return runs
    }

    /// Returns true if the byte can be part of a word. Dots and slashes separate words, so that each label of a host
    /// name is a word of its own. Otherwise, two hosts of the same domain would have a long sequence of bytes in
    /// common, and a text with either host would be hidden.
    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
            true
        default: "-_~+".utf8.contains(byte)
        }
    }
}
