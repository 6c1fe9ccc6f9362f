import CommandArguments
import TestSupport
import Testing

@testable import CourierCommands

struct BenchArgumentsTests {
    private static func read(_ words: [String]) throws -> BenchArguments {
        var settings = BenchArguments()
        try ArgumentReader(BenchArguments.groups).read(words, into: &settings)
        try settings.check()
        return settings
    }

    @Test func `bench has one publisher, one subscriber and 10000 messages by default`() throws {
        let settings = try Self.read([])
        #expect(settings.publishers == 1 && settings.subscribers == 1 && settings.endsAtFirstProblem)
        #expect(settings.messageLimit == 10_000 && settings.payload == .zeros && settings.rampUp == .zero)
    }

    @Test func `with --duration, bench limits the number of messages only if the option -n is given`() throws {
        #expect(try Self.read(["--duration", "5"]).messageLimit == nil)
        #expect(try Self.read(["--duration", "5", "-n", "7"]).messageLimit == 7)
    }

    @Test(arguments: [
        (["--publishers", "x"], "Invalid count \"x\"."), (["--publishers", "-1"], "Invalid count \"-1\"."),
        (["--subscribers", "100001"], "Invalid count \"100001\"."),
        (["--publishers", "0", "--subscribers", "0"], "0 publishers and 0 subscribers are 0 clients."),
        (
            ["--publishers", "60000", "--subscribers", "60000"],
            "60000 publishers and 60000 subscribers are 120000 clients."
        ),
        (["-t", "a/%x"], "The value 'a/%x' of -t has the unknown placeholder %x."),
        (["--filter", "a/%n"], "The value 'a/%n' of --filter has the unknown placeholder %n."),
        (["--duration", "0"], "Invalid time \"0\"."), (["--ramp-up", "x"], "Invalid time \"x\"."),
        (["--payload", "xml"], "Invalid payload \"xml\"."),
        (["--payload", "json", "-s", "36"], "A payload of the kind json has at least 37 bytes, not 36."),
        (
            ["--publishers", "0", "-n", "5"],
            "The option -n has no effect, because --publishers 0 sends no messages."
        ),
        (
            ["--payload", "text", "--publishers", "0"],
            "The option --payload has no effect, because --publishers 0 sends no messages."
        ),
        (
            ["--subscribers", "0", "--filter", "a"],
            "The option --filter has no effect, because --subscribers 0 receives no messages."
        ),
        (["--report", "/tmp/no.svg", "--report", "/tmp/no.svg"], "--report names the file /tmp/no.svg twice."),
    ])
    func `bench refuses invalid and contradictory options with a hint`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) { _ = try Self.read(words) }
        #expect(error?.message == message && error?.hint != nil)
    }

    @Test func `bench refuses more than ten report files`() {
        let words = (0...ReportFile.limit).flatMap { ["--report", "/tmp/no-\($0).svg"] }
        #expect(throws: ArgumentError.self) { _ = try Self.read(words) }
    }
}
