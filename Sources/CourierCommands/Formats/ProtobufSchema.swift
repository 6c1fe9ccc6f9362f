import CommandArguments
import CourierCore
import CourierProtobuf
import CourierSQLite
import Foundation
import Glibc

/// A message type of a `.proto` file, by which JSON becomes protobuf and protobuf JSON.
package struct ProtobufSchema: Sendable {
    private let types: ProtobufDescriptorSet
    private let type: String

    /// Has `protoc` read the file.
    ///
    /// - Parameters:
    ///   - file: The file; its imports are looked for beside it.
    ///   - type: The full name of the type; may be left out where the file has one only.
    /// - Throws: ``ArgumentError`` with what is wrong; `nil` when neither is given.
    init?(file: String?, type: String?) throws {
        guard let file else {
            guard type == nil else {
                throw ArgumentError("--message-type given, but no --proto.", hint: "Give the .proto file by --proto.")
            }
            return nil
        }
        let types = try ProtobufDescriptorSet(Self.descriptors(of: file))
        if let type {
            guard types.messageNames.contains(type) else {
                throw ArgumentError(
                    "There is no message type \(type) in \(file).", hint: Self.hint(types.messageNames))
            }
            self.type = type
        } else {
            guard types.messageNames.count == 1, let only = types.messageNames.first else {
                throw ArgumentError(
                    "--proto given, but no --message-type.", hint: Self.hint(types.messageNames))
            }
            self.type = only
        }
        self.types = types
    }

    /// How many names a hint lists.
    private static let shownNames = 8

    private static func hint(_ names: [String]) -> String {
        let names = names.filter { !$0.hasPrefix("google.protobuf.") }
        let more = names.count > shownNames ? ", …" : ""
        return names.isEmpty
            ? "It has no message types." : "It has \(names.prefix(shownNames).joined(separator: ", "))\(more)."
    }

    /// The message as JSON on one line.
    func json(_ payload: [UInt8]) throws -> String { try types.json(from: Data(payload), type: type) }

    /// The message that JSON describes.
    func payload(fromJSON json: [UInt8]) throws -> [UInt8] {
        [UInt8](try types.payload(fromJSON: String(decoding: json, as: UTF8.self), type: type))
    }

    /// What `protoc` makes of a file.
    private static func descriptors(of file: String) throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "courier-proto-\(UUID().uuidString)")
        // Another user could replace the files of a folder with wider permissions.
        try PrivateFile.makeFolder(folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = folder.appendingPathComponent("set").path
        let source = URL(fileURLWithPath: file)
        guard FileManager.default.isReadableFile(atPath: source.path) else {
            throw ArgumentError("Unable to open file \"\(file)\".", hint: "Check its name and who may read it.")
        }
        let errors = folder.appendingPathComponent("errors").path
        let status = try ChildProgram.run(
            [
                "protoc", "--include_imports", "--descriptor_set_out=\(result)",
                "--proto_path=\(source.deletingLastPathComponent().path)", source.path,
            ], errorsTo: errors)
        guard status == 0 else {
            let said = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            let line = said.split(separator: "\n").first.map(String.init) ?? "protoc ended with \(status)."
            throw ArgumentError(
                "protoc can not read \(file): \(line)", hint: "Correct the file, or the imports beside it.")
        }
        return try Data(contentsOf: URL(fileURLWithPath: result))
    }
}
