import CommandArguments
import Testing

struct HelpTests {
    private static let program = ProgramSummary(
        name: "tool", abstract: "a tool", version: "1.2", discussion: ["It does things."],
        commands: [
            CommandSummary(
                name: "run", abstract: "run it", usage: ["[OPTIONS]", "-x FILE"],
                discussion: [
                    "One paragraph that is long enough to be broken into more than a single line of text, "
                        + "because it has so many words."
                ],
                groups: [
                    OptionGroup<Int>(
                        "General",
                        [
                            Option(OptionNames("f", "file"), .one("FILE", .files), "Read it's file: [all].") { _, _ in
                            },
                            Option(OptionNames(nil, "level"), .one("N", .words(["low", "high"])), "How much.") { _, _ in
                            },
                            Option(OptionNames("q"), "Say nothing.") { _, _ in },
                            .refused(OptionNames(nil, "gone"), .none, "What was.", hint: "Use -f.") { _, _ in },
                        ]
                    ).summary
                ],
                examples: [.init("tool run -f 'a b'", "Reads a file.")], exitCodes: [.init("3", "nothing was found")])
        ])

    @Test func `the help text of a program lists its commands and examples`() {
        let text = HelpText(Self.program).string
        #expect(text.hasPrefix("tool 1.2: a tool.\n"))
        #expect(text.contains("\n  run                         run it\n"))
        #expect(text.contains("tool run -f 'a b'"))
    }

    @Test func `the help text of a command lists every option and is at most 100 columns wide`() {
        let text = HelpText(Self.program.commands[0], of: Self.program).string
        for part in ["-f, --file FILE", "--level N", "-q", "--gone", "What was. Not supported: Use -f.", "General:"] {
            #expect(text.contains(part))
        }
        #expect(text.contains("Usage: tool run [OPTIONS]\n       tool run -x FILE\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func `the manual page escapes hyphens and uses only known man macros`() {
        let text = ManualPage(Self.program).string
        #expect(text.hasPrefix(".TH TOOL 1 \"\" \"tool 1.2\" \"Commands\"\n.SH NAME\ntool \\- a tool\n"))
        #expect(text.contains("\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\n"))
        #expect(text.contains(".B 3\nnothing was found\n"))
        for line in text.split(separator: "\n") where line.hasPrefix(".") {
            #expect(
                [".TH", ".SH", ".SS", ".B ", ".br", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi"].contains {
                    line.hasPrefix($0)
                })
        }
    }

    @Test(arguments: Shell.allCases)
    func `shell completions list supported options and omit unsupported options`(shell: Shell) {
        let text = Completions(Self.program, shell).string
        #expect(text.contains("file") && text.contains("low high") && text.contains("run"))
        #expect(!text.contains("gone"))
    }
}
