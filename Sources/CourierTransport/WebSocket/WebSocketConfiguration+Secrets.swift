extension WebSocketConfiguration {
    /// What is shorter is no secret, and stands in many a text.
    private static let shortestSecret = 4

    /// So many bytes in a row of a secret are shown by no text, however the secret was cut. A number holds them.
    private static let runLength = MemoryLayout<UInt64>.size

    /// What stands in many a header field and says nothing.
    private static let openWords: Set<String> = ["http", "https", "bearer", "basic"]

    /// Text of the peer's for a message, unless it repeats what may be a secret: a part of a header field's value or of a
    /// value of the query, percent-encoded or not, or ``runLength`` bytes of a word in one.
    ///
    /// Both are bounded, by ``headLimit`` and ``requestLimit``.
    func quoted(_ text: some StringProtocol) -> String {
        let plain = String(text)
        let secrets = self.secrets
        let secretRuns = Self.runs(in: secrets)
        let repeats = [plain, Substring(plain).percentDecoded ?? plain].contains { reading in
            secrets.contains { reading.contains($0) } || !secretRuns.isDisjoint(with: Self.runs(in: [reading[...]]))
        }
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

    /// All runs of ``runLength`` bytes inside of the words in some texts.
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

    /// Whether a word continues with this byte. Dots and slashes end one, or hosts of one domain would share a run.
    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
            true
        default: "-_~+".utf8.contains(byte)
        }
    }
}
