import CommandArguments
import CourierCore
import CourierProtobuf
import CourierSQLite
import Foundation

/// A message type of a `.proto` file. It converts JSON to protobuf and protobuf to JSON.
package struct ProtobufSchema: Sendable {
    private let types: ProtobufDescriptorSet
    private let type: String

    /// Runs `protoc` to read the file. Returns `nil` if neither a file nor a type is given.
    ///
    /// - Parameters:
    ///   - file: The path of the file. `protoc` searches for imported files in the same folder.
    ///   - type: The full name of the message type. It may be omitted if the file has exactly one type.
    /// - Throws: ``ArgumentError`` with the reason why the file or the type cannot be used.
    init?(file: String?, type: String?) throws {
        guard let file else {
            guard type == nil else {
                throw ArgumentError("--message-type needs --proto.", hint: "Give the .proto file with --proto.")
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
                    "--proto needs --message-type, unless the file has exactly one message type.",
                    hint: Self.hint(types.messageNames))
            }
            self.type = only
        }
        self.types = types
    }

    /// The maximum number of type names that a hint lists.
    private static let shownNames = 8

    private static func hint(_ names: [String]) -> String {
        let names = names.filter { !$0.hasPrefix("google.protobuf.") }
        let more = names.count > shownNames ? ", …" : ""
        return names.isEmpty
            ? "The file has no message types."
            : "The file has the message types \(names.prefix(shownNames).joined(separator: ", "))\(more)."
    }

    /// Converts a protobuf payload to JSON on one line.
    func json(_ payload: [UInt8]) throws -> String { try types.json(from: Data(payload), type: type) }

    /// Converts JSON to a protobuf payload.
    func payload(fromJSON json: [UInt8]) throws -> [UInt8] {
        [UInt8](try types.payload(fromJSON: String(decoding: json, as: UTF8.self), type: type))
    }

    /// Returns the descriptor set that `protoc` creates from a file.
    private static func descriptors(of file: String) throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "courier-proto-\(UUID().uuidString)")
        // The folder is private, because with wider permissions, another user could replace its files.
        try PrivateFile.makeFolder(folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = folder.appendingPathComponent("set").path
        let source = URL(fileURLWithPath: file)
        guard FileManager.default.isReadableFile(atPath: source.path) else {
            throw ArgumentError(
                "Unable to open file \"\(file)\".", hint: "Check the name and the read permission of the file.")
        }
        let errors = folder.appendingPathComponent("errors").path
        let status = try ChildProgram.run(
            [
                "protoc", "--include_imports", "--descriptor_set_out=\(result)",
                "--proto_path=\(source.deletingLastPathComponent().path)", source.path,
            ], errorsTo: errors)
        guard status == 0 else {
            let said = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            let line =
                said.split(separator: "\n").first.map(String.init) ?? "protoc ended with the exit code \(status)."
            throw ArgumentError(
                "protoc cannot read \(file): \(line)", hint: "Correct the file, or the files that it imports.")
        }
        return try Data(contentsOf: URL(fileURLWithPath: result))
    }
}
