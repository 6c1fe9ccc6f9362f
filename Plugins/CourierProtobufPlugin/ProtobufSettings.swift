import Foundation

/// The content of a target's `courier-protobuf.json`. Each entry is optional.
///
/// ```json
/// { "visibility": "public", "importPaths": ["../Shared"], "protoc": "/opt/protoc/bin/protoc" }
/// ```
struct ProtobufSettings: Decodable {
    /// The access level of the generated types: `internal`, `package` or `public`; `internal` by default.
    var visibility: String?
    /// Additional folders that are searched for imported `.proto` files, besides the target's folder and protoc's own
    /// folder. Relative paths start at the target's folder.
    var importPaths: [String]?
    /// The path of protoc; by default, the first `protoc` on `PATH`.
    var protoc: String?

    private enum CodingKeys: CodingKey { case visibility, importPaths, protoc }

    /// The `CodeGenerator.version` that this plugin requires. A generator with another version reports an error. If
    /// this number is increased, every file is generated again.
    static let generatorVersion = 3

    /// A list with the settings file; the list is empty if there is no settings file.
    var files: [URL] = []

    static func read(in folder: URL) throws -> ProtobufSettings {
        let file = folder.appending(path: "courier-protobuf.json")
        guard FileManager.default.fileExists(atPath: file.path) else { return ProtobufSettings() }
        do {
            var settings = try JSONDecoder().decode(ProtobufSettings.self, from: Data(contentsOf: file))
            settings.files = [file]
            return settings
        } catch { throw ProtobufPluginError(description: "\(file.path): \(error)") }
    }

    func protocURL() throws -> URL {
        let environment = ProcessInfo.processInfo.environment
        let paths =
            protoc.map { [$0] }
            ?? (environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/protoc" } + ["/usr/bin/protoc"]
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw ProtobufPluginError(
                description:
                    "no protoc at \(paths.joined(separator: ", ")); install protobuf-compiler and libprotobuf-dev")
        }
        return URL(filePath: path)
    }

    func arguments(generator: URL, folder: URL, output: URL) -> [String] {
        ["--plugin=protoc-gen-courier=\(generator.path)", "--courier_out=\(output.path)"]
            + ["--courier_opt=Visibility=\(visibility ?? "internal"),FileNaming=PathToUnderscores"]
            + ["--courier_opt=Version=\(Self.generatorVersion)", "-I\(folder.path)"]
            + imports(from: folder).map { "-I\($0.path)" }
    }

    /// The `.proto` files in the import folders. If one of them changes, the generated code is out of date.
    func importedFiles(from folder: URL) -> [URL] {
        imports(from: folder).flatMap { path in
            let all = FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil)
            return (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "proto" }
        }
    }

    private func imports(from folder: URL) -> [URL] {
        (importPaths ?? []).map { path in
            path.hasPrefix("/") ? URL(filePath: path) : folder.appending(path: path).standardizedFileURL
        }
    }
}

struct ProtobufPluginError: Error, CustomStringConvertible { let description: String }
