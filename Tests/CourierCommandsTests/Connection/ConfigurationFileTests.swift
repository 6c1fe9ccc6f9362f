import CommandArguments
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct ConfigurationFileTests {
    @Test func `each line of an options file is read as an option and its value`() {
        #expect(
            ConfigurationFile.lines(of: "# comment\n-h broker\n\n--will-payload two words \n-v\n  -p 7\r\n-x ")
                == [["-h", "broker"], ["--will-payload", "two words "], ["-v"], ["-p", "7"], ["-x"]])
    }

    @Test func `the options file is read from XDG_CONFIG_HOME, else from HOME, unless -o names a file`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file(".config"), withIntermediateDirectories: true)
        try "-h home".write(toFile: folder.file(".config/mosquitto_pub"), atomically: true, encoding: .utf8)
        try "-h xdg".write(toFile: folder.file("mosquitto_pub"), atomically: true, encoding: .utf8)
        try "-h named".write(toFile: folder.file("options"), atomically: true, encoding: .utf8)
        func host(_ arguments: [String], _ environment: [String: String]) throws -> String? {
            try Self.read(arguments, in: environment).connection.host
        }
        #expect(try host([], [:]) == nil)
        #expect(try host([], ["HOME": folder.path]) == "home")
        #expect(try host([], ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]) == "xdg")
        #expect(try host([], ["HOME": "/nowhere"]) == nil)
        let file = folder.file("options")
        for arguments in [["-d", "-o", file], ["-o\(file)"], ["-do", file], ["-do\(file)"]] {
            #expect(try host(arguments, ["HOME": folder.path]) == "named", "\(arguments)")
        }
        #expect(try host(["-m", "-o", "-t", "-o"], ["HOME": folder.path]) == "home", "these are values")
    }

    private static func read(_ arguments: [String], in environment: [String: String]) throws -> PublishArguments {
        var settings = PublishArguments()
        try PublishCommand.read(
            arguments, ArgumentReader(PublishArguments.groups), into: &settings, \.connection,
            Console(environment: environment))
        return settings
    }

    @Test func `an options file that contains -o is refused`() throws {
        let folder = try TemporaryFolder()
        try "-o other".write(toFile: folder.file("options"), atomically: true, encoding: .utf8)
        #expect {
            try Self.read(["-o", folder.file("options")], in: [:])
        } throws: { error in
            (error as? ArgumentError)?.message == "An options file cannot name another options file with -o."
        }
    }

    @Test(arguments: [
        (["-o"], "-o argument given but no options file specified."),
        (["-o", "a", "-o", "b"], "Duplicate -o argument given."),
        (["-o", "/nowhere/file"], "Unable to open options file \"/nowhere/file\"."),
    ])
    func `the option -o is refused without a file name, with an unreadable file, or if given twice`(
        arguments: [String], message: String
    ) {
        #expect {
            try Self.read(arguments, in: [:])
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }
}
