import Foundation

/// Runs the programs whose results the tests compare with.
enum Tool {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The output of a program for `input`. Uses files instead of pipes, which could block both sides.
    static func run(_ path: String, _ arguments: [String], input: Data = Data()) throws -> Data {
        try withFolder { folder in
            let files = ["in", "out", "err"].map { folder.appending(path: $0) }
            try input.write(to: files[0])
            for file in files[1...] { try Data().write(to: file) }
            let process = Process()
            process.executableURL = URL(filePath: path)
            process.arguments = arguments
            process.standardInput = try FileHandle(forReadingFrom: files[0])
            process.standardOutput = try FileHandle(forWritingTo: files[1])
            process.standardError = try FileHandle(forWritingTo: files[2])
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                let said = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
                throw Failure(description: "\(path) \(arguments.joined(separator: " ")): \(said)")
            }
            return try Data(contentsOf: files[1])
        }
    }

    /// Runs the closure with a temporary folder, and removes the folder afterwards.
    static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "courier-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// The folder of this test target in the source tree.
    static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    static let protos = tests.appending(path: "Protos")

    static func protoc(_ arguments: [String], input: Data = Data()) throws -> Data {
        try run("/usr/bin/protoc", ["-I\(protos.path)"] + arguments, input: input)
    }

    /// The output of `protoc --descriptor_set_out` for some of the test's files and all their imports.
    static func descriptorSet(_ files: [String] = ["everything.proto", "note.proto"]) throws -> Data {
        try withFolder { folder in
            let file = folder.appending(path: "set")
            _ = try protoc(["--include_imports", "--include_source_info", "--descriptor_set_out=\(file.path)"] + files)
            return try Data(contentsOf: file)
        }
    }
}
