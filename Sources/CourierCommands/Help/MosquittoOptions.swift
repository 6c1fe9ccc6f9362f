package import CommandArguments

/// All options in the manual pages mosquitto_pub(1), mosquitto_sub(1) and mosquitto_rr(1) of mosquitto 2.1, and whether
/// `courier` supports each of them.
package struct MosquittoOptions: Sendable {
    /// One option in the table.
    package struct Row: Hashable, Sendable {
        /// The spellings of the option in the manual pages, the short one first.
        package let names: [String]
        /// The commands that have the option in mosquitto: `pub`, `sub` or `rr`.
        package let commands: [String]
        /// Whether `courier` supports the option. It is `nil` if one of the commands does not know the option.
        package let outcome: Outcome?
    }

    /// The support for an option.
    package enum Outcome: Hashable, Sendable {
        /// The option does the same as in mosquitto.
        case works
        /// The option is recognized but rejected with an error and this hint.
        case refused(hint: String)
    }

    /// All options, grouped by the commands that have them, and spelled as in the manual pages.
    private static let pages: KeyValuePairs<[String], [[String]]> = [
        ["pub", "sub", "rr"]: [
            ["-A"], ["--cafile"], ["--capath"], ["--cert"], ["--ciphers"], ["-c", "--disable-clean-session"],
            ["-d", "--debug"], ["-D", "--property"], ["-h", "--host"], ["--help"], ["-i", "--id"],
            ["-I", "--id-prefix"],
            ["--insecure"], ["-k", "--keepalive"], ["--key"], ["--keyform"], ["-L", "--url"], ["-M"], ["--no-tls"],
            ["--nodelay"], ["-o"], ["-p", "--port"], ["-P", "--pw"], ["--proxy"], ["--psk"], ["--psk-identity"],
            ["-q", "--qos"], ["--quiet"], ["-S"], ["-t", "--topic"], ["--tls-alpn"], ["--tls-engine"],
            ["--tls-engine-kpass-sha1"], ["--tls-keylog"], ["--tls-use-os-certs"], ["--tls-version"],
            ["-u", "--username"],
            ["--unix"], ["-V", "--protocol-version"], ["--version"], ["--will-payload"], ["--will-qos"],
            ["--will-retain"],
            ["--will-topic"], ["--ws"], ["-x"],
        ],
        ["pub", "rr"]: [["-f", "--file"], ["-m", "--message"], ["-n", "--null-message"], ["-s", "--stdin-file"]],
        ["sub", "rr"]: [
            ["-F"], ["-N"], ["--pretty"], ["-R"], ["--retain-as-published"], ["--retain-handling"],
            ["-v", "--verbose"],
            ["-W"],
        ],
        ["pub"]: [["-l", "--stdin-line"], ["-r", "--retain"], ["--repeat"], ["--repeat-delay"]],
        ["sub"]: [
            ["-C"], ["-E"], ["--message-rate"], ["--random-filter"], ["--remove-retained"], ["--retained-only"],
            ["-T", "--filter-out"], ["-U", "--unsubscribe"], ["-w", "--watch"],
        ],
        ["rr"]: [["-e"], ["--latency"]],
    ]

    /// The table in alphabetical order.
    package let rows: [Row]

    /// Determines the support for each option from the options that the commands declare.
    ///
    /// - Parameter commands: The descriptions of all commands.
    package init(_ commands: [CommandSummary]) {
        var rows: [Row] = []
        for (names, options) in Self.pages {
            for option in options {
                rows.append(Row(names: option, commands: names, outcome: Self.outcome(option, names, commands)))
            }
        }
        self.rows = rows.sorted { Self.key($0) < Self.key($1) }
    }

    /// The sort key. It ignores the case of the option's first name. If two names differ only in case, the lower-case
    /// name is first.
    private static func key(_ row: Row) -> String {
        let name = row.names[0].drop { $0 == "-" }
        return "\(name.lowercased()) \(name.first?.isUppercase == true ? 1 : 0)"
    }

    /// Returns the support for an option in the commands `owners`. Returns `refused` if one of these commands refuses
    /// the option, and `nil` if one of them does not know the option.
    private static func outcome(_ names: [String], _ owners: [String], _ commands: [CommandSummary]) -> Outcome? {
        var outcome: Outcome? = .works
        for owner in owners {
            let command = commands.first { $0.name == owner }
            guard let option = command?.options.first(where: { Set(names).isSubset(of: $0.names.all) }) else {
                return nil
            }
            if let hint = option.refusal { outcome = .refused(hint: hint) }
        }
        return outcome
    }

    /// A Markdown table of the options that `courier` refuses or does not know.
    package var markdown: String {
        var lines = ["| option | commands | alternative |", "| --- | --- | --- |"]
        for row in rows {
            let hint: String
            switch row.outcome {
            case .works?: continue
            case .refused(let text)?: hint = text
            case nil: hint = "unknown"
            }
            let names = row.names.map { "`\($0)`" }.joined(separator: ", ")
            lines.append("| \(names) | \(row.commands.joined(separator: ", ")) | \(hint) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
