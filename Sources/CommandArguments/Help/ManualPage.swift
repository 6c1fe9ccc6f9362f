/// The manual page of a program, in the format that `man` displays.
package struct ManualPage: Hashable, Sendable {
    /// The text of the page, in the format of man(7).
    package let string: String

    /// Generates the manual page of a program.
    ///
    /// - Parameter program: The description of the program.
    package init(_ program: ProgramSummary) {
        var lines = [
            ".TH \(program.name.uppercased()) 1 \"\" \"\(program.name) \(program.version)\" \"Commands\"", ".SH NAME",
            "\(program.name) \\- \(Self.text(program.abstract))", ".SH SYNOPSIS",
        ]
        for command in program.commands {
            for usage in command.usage {
                lines += [".B \(Self.text("\(program.name) \(command.name)"))", Self.line(usage), ".br"]
            }
        }
        lines.append(".SH DESCRIPTION")
        lines += Self.paragraphs(program.discussion)
        for command in program.commands {
            lines += [".SH \(Self.text("\(program.name) \(command.name)".uppercased()))"]
            lines += Self.paragraphs([command.abstract.prefix(1).uppercased() + command.abstract.dropFirst() + "."])
            lines += Self.paragraphs(command.discussion)
            for group in command.groups {
                lines.append(".SS \(Self.text(group.title))")
                for option in group.options { lines += Self.entry(option) }
            }
            if !command.exitCodes.isEmpty {
                lines.append(".SS Exit codes")
                for code in command.exitCodes {
                    lines += [".TP", ".B \(Self.text(code.code))", Self.line(code.meaning)]
                }
            }
            if !command.examples.isEmpty { lines.append(".SS Examples") }
            for example in command.examples {
                lines += [
                    ".PP", Self.line(example.meaning), ".PP", ".RS 4", ".nf", Self.line(example.line), ".fi", ".RE",
                ]
            }
        }
        string = lines.joined(separator: "\n") + "\n"
    }

    private static func paragraphs(_ texts: [String]) -> [String] { texts.flatMap { [".PP", line($0)] } }

    private static func entry(_ option: OptionSummary) -> [String] {
        let names = option.names.all.map { "\\fB\(text($0))\\fR" }.joined(separator: ", ")
        let values = option.valueNames.map { " \\fI\(text($0))\\fR" }.joined()
        return [".TP", names + values, line(option.text)]
    }

    /// Escapes a text, so that groff prints its characters unchanged.
    private static func text(_ text: String) -> String {
        // groff reads its input as bytes, so characters outside ASCII are written as named escapes.
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").unicodeScalars.map {
            $0.isASCII ? String($0) : "\\[u\(String($0.value, radix: 16, uppercase: true).leftPadded(to: 4))]"
        }.joined()
    }

    /// Escapes a whole line. A `.` or `'` at the start is escaped too, because groff would read such a line as a
    /// request.
    private static func line(_ line: some StringProtocol) -> String {
        let text = text(String(line))
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&\(text)" : text
    }
}

extension String {
    /// Returns the text, padded with zeros on the left to `count` characters.
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
