import CommandArguments
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

/// Checks the generated manual page, completions and help texts with the programs that read them.
struct GeneratedTextTests {
    @Test func `groff formats the manual page without warnings and prints every option`() async throws {
        let folder = try TemporaryFolder()
        try ManualPage(CourierProgram.summary).string.write(
            toFile: folder.file("courier.1"), atomically: true, encoding: .utf8)
        let outcome = try await ProgramRun([
            "/usr/bin/groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", folder.file("courier.1"),
        ]).end()
        #expect(outcome.code == 0 && outcome.errors == "")
        for command in CourierProgram.commands {
            for option in command.summary.options {
                #expect(outcome.text.contains(option.names.main), "\(option.names.main)")
            }
        }
    }

    @Test(arguments: [
        ("courier ''", 1, ["pub", "sub", "rr", "completions"]), ("courier sub --ret", 2, ["--retained-only"]),
        ("courier pub -q ''", 3, ["0", "1", "2"]), ("courier completions f", 2, ["fish"]),
        ("courier sub --cafile /etc/host", 3, ["/etc/hosts"]),
    ])
    func `bash completions offer commands, options, values and files`(line: String, word: Int, expected: [String])
        async throws
    {
        let folder = try TemporaryFolder()
        try Completions(CourierProgram.summary, .bash).string.write(
            toFile: folder.file("completions"), atomically: true, encoding: .utf8)
        let script = """
            source '\(folder.file("completions"))'
            COMP_WORDS=(\(line)); COMP_CWORD=\(word); _courier; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try await ProgramRun(["/bin/bash", "-c", script]).end()
        #expect(outcome.errors == "")
        #expect(Set(expected).isSubset(of: outcome.text.split(separator: "\n").map(String.init)))
    }

    @Test func `every help command prints examples in lines of at most 110 columns`() async throws {
        let courier = try CourierExecutable.path.get()
        for arguments in [["--help"], ["help"], ["help", "sub"]]
            + CourierProgram.commands.map({ [$0.summary.name, "--help"] })
        {
            let outcome = try await ProgramRun([courier] + arguments).end()
            let isAsMosquitto = ["pub", "sub", "rr"].contains(arguments[0])
            #expect(outcome.code == (isAsMosquitto ? 1 : 0) && outcome.errors == "", "\(arguments)")
            #expect(outcome.text.contains("Examples:"), "\(arguments)")
            #expect(outcome.text.split(separator: "\n").allSatisfy { $0.count <= 110 }, "\(arguments)")
        }
    }

    @Test(arguments: [[], ["nosuch"]])
    func `courier exits with 1 and a hint if the command is missing or unknown`(arguments: [String]) async throws {
        let outcome = try await ProgramRun([try CourierExecutable.path.get()] + arguments).end()
        #expect(outcome.code == 1 && outcome.output.isEmpty && outcome.errors.contains("--help"))
    }
}
