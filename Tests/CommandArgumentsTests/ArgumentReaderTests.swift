import CommandArguments
import Testing

struct ArgumentReaderTests {
    private struct Settings: Equatable {
        var host = "localhost"
        var quality = 0
        var isVerbose = false
        var isRetained = false
        var pairs: [[String]] = []
        var words: [String] = []
        var refusals: [ArgumentError] = []
    }

    private static let groups: [OptionGroup<Settings>] = [
        OptionGroup(
            "All",
            [
                Option(OptionNames("h", "host"), .one("HOST"), "The host.", missing: "host") { $0.host = $1[0] },
                Option(OptionNames("q", "qos"), .one("QOS"), "The level.", missing: "QoS") {
                    $0.quality = NumberText.whole($1[0])
                    if $0.quality > 2 { throw ArgumentError("Invalid QoS given: \($0.quality)") }
                },
                Option(OptionNames("v", "verbose", "loud"), "More words.") { settings, _ in
                    settings.isVerbose = true
                },
                Option(OptionNames("r"), "Keep.") { settings, _ in settings.isRetained = true },
                Option(
                    OptionNames("D", "property"),
                    .several(["COMMAND", "NAME", "VALUE"]) { $0.dropFirst().first == "pair" ? 4 : 3 }, "A property.",
                    missingText: "--property argument given but not enough arguments specified."
                ) { $0.pairs.append($1) },
                .refused(OptionNames("S", "srv"), .none, "Records.", hint: "Use -h.") { $0.refusals.append($1) },
                .refused(
                    OptionNames(nil, "psk"), .one("KEY"), "A key.", hint: "Use certificates.", missing: "key"
                ) { $0.refusals.append($1) },
            ])
    ]

    private func read(_ arguments: [String]) throws -> Settings {
        var settings = Settings()
        try ArgumentReader(Self.groups).read(arguments, into: &settings)
        return settings
    }

    @Test(arguments: [
        ["-h", "b", "-q", "1"], ["-hb", "-q1"], ["--host", "b", "--qos", "1"], ["--host=b", "--qos=1"],
        ["-q", "2", "-q", "1", "-h", "b"],
    ])
    func `the value of an option can follow after a space, after = or without a separator`(arguments: [String]) throws {
        #expect(try read(arguments) == Settings(host: "b", quality: 1))
    }

    @Test func `several short options can be combined in one argument, and the last option can have a value`() throws {
        #expect(try read(["-rv"]) == Settings(isVerbose: true, isRetained: true))
        #expect(try read(["-rvh", "b"]) == Settings(host: "b", isVerbose: true, isRetained: true))
        #expect(try read(["-rvhb"]) == Settings(host: "b", isVerbose: true, isRetained: true))
    }

    @Test func `all names of an option have the same effect`() throws {
        for word in ["--verbose", "--loud", "-v"] { #expect(try read([word]).isVerbose) }
    }

    @Test func `the word after an option is read as the option's value, even if the word begins with -`() throws {
        #expect(try read(["-h", "-v"]) == Settings(host: "-v"))
        #expect(try read(["-h", "--"]) == Settings(host: "--"))
        #expect(try read(["--host="]) == Settings(host: ""))
        #expect(try read(["--host=a=b"]) == Settings(host: "a=b"))
        #expect(try read(["-h", ""]) == Settings(host: ""))
    }

    @Test func `an option can have several values, and its first values can decide how many values follow`() throws {
        #expect(
            try read(["-D", "publish", "expiry", "3", "--property", "publish", "pair", "a", "b", "-r"])
                == Settings(isRetained: true, pairs: [["publish", "expiry", "3"], ["publish", "pair", "a", "b"]]))
    }

    @Test(arguments: [
        (["-Z"], "Unknown option '-Z'."), (["--nosuch"], "Unknown option '--nosuch'."),
        (["word"], "Unknown option 'word'."), (["-"], "Unknown option '-'."), ([""], "Unknown option ''."),
        (["-rZ"], "Unknown option '-Z'."), (["--", "word"], "Unknown option 'word'."),
        (["-h"], "-h argument given but no host specified."), (["--host"], "-h argument given but no host specified."),
        (["-v", "-q"], "-q argument given but no QoS specified."),
        (["-D", "publish", "pair", "a"], "--property argument given but not enough arguments specified."),
        (["-D"], "--property argument given but not enough arguments specified."),
        (["-q", "5"], "Invalid QoS given: 5"), (["-q", "5", "-Z"], "Invalid QoS given: 5"),
        (["--verbose=1"], "The option --verbose takes no value."),
        (["-S", "--psk"], "--psk argument given but no key specified."), (["-S", "-Z"], "Unknown option '-Z'."),
    ])
    func `the error describes the first mistake on the command line`(arguments: [String], message: String) {
        #expect {
            try read(arguments)
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }

    @Test(arguments: [["-S"], ["--srv"], ["-vS"], ["--psk", "00"], ["--psk=00"]])
    func `an unsupported option is reported as an error with a hint`(arguments: [String]) throws {
        let isKey = arguments[0].hasPrefix("--psk")
        let refusal = ArgumentError(
            "The option \(isKey ? "--psk" : "-S") is not supported.", hint: isKey ? "Use certificates." : "Use -h.")
        #expect(try read(arguments).refusals == [refusal])
    }

    @Test(arguments: [(["-h"], 2), (["-D", "publish"], 2), (["-Z"], 1)])
    func `two blank lines precede the hint for a missing value, and one blank line the hint for an unknown option`(
        arguments: [String], blankLines: Int
    ) {
        #expect {
            try read(arguments)
        } throws: { error in
            (error as? ArgumentError)?.blankLines == blankLines
        }
    }

    @Test func `arguments that are not options are passed to the operand handler`() throws {
        var settings = Settings()
        let reader = ArgumentReader(Self.groups, operands: .accepted { $0.words.append($1) })
        try reader.read(["one", "-r", "-", "--", "-v", "--host"], into: &settings)
        #expect(settings == Settings(isRetained: true, words: ["one", "-", "-v", "--host"]))
    }

    @Test func `part() lets an ArgumentReader read the options of a nested struct into the outer struct`() throws {
        struct Whole: Equatable, Sendable {
            var part = 0
            var name = ""
        }
        let number = Option<Int>(OptionNames("n"), .one("N"), "A number.") { $0 = NumberText.whole($1[0]) }
        let group = OptionGroup("Part", [number]).part(\Whole.part)
        var whole = Whole(name: "x")
        try ArgumentReader([group]).read(["-n", "7"], into: &whole)
        #expect(whole == Whole(part: 7, name: "x"))
        #expect(group.summary.options == [number.summary])
    }
}
