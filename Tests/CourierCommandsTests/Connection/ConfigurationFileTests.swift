import CommandArguments
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct ConfigurationFileTests {
    @Test func `a line is an option and the rest of the line its value`() {
        #expect(
            ConfigurationFile.lines(of: "# comment\n-h broker\n\n--will-payload two words \n-v\n  -p 7\r\n-x ")
                == [["-h", "broker"], ["--will-payload", "two words "], ["-v"], ["-p", "7"], ["-x"]])
    }

    @Test func `the user's file is found by the environment, and that of -o comes before it`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file(".config"), withIntermediateDirectories: true)
        try "-h home".write(toFile: folder.file(".config/mosquitto_pub"), atomically: true, encoding: .utf8)
        try "-h xdg".write(toFile: folder.file("mosquitto_pub"), atomically: true, encoding: .utf8)
        try "-h named".write(toFile: folder.file("options"), atomically: true, encoding: .utf8)
        func lines(_ arguments: [String], _ environment: [String: String]) throws -> [[String]] {
            try ConfigurationFile(for: arguments, named: "mosquitto_pub", in: environment).lines
        }
        #expect(try lines([], [:]) == [])
        #expect(try lines([], ["HOME": folder.path]) == [["-h", "home"]])
        #expect(try lines([], ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path]) == [["-h", "xdg"]])
        #expect(try lines([], ["HOME": "/nowhere"]) == [])
        #expect(try lines(["-v", "-o", folder.file("options")], ["HOME": folder.path]) == [["-h", "named"]])
    }

    @Test(arguments: [
        (["-o"], "-o argument given but no options file specified."),
        (["-o", "a", "-o", "b"], "Duplicate -o argument given."),
        (["-o", "/nowhere/file"], "Unable to open options file \"/nowhere/file\"."),
    ])
    func `a file that is not there is a mistake`(arguments: [String], message: String) {
        #expect {
            try ConfigurationFile(for: arguments, named: "mosquitto_pub", in: [:])
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }
}
