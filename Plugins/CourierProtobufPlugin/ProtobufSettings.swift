import Foundation

/// What a target's `courier-protobuf.json` says; each of its entries may be missing.
///
/// ```json
/// { "visibility": "public", "importPaths": ["../Shared"], "protoc": "/opt/protoc/bin/protoc" }
/// ```
struct ProtobufSettings: Decodable {
    /// `internal`, `package` or `public`; `internal` by default.
    var visibility: String?
    /// Folders where imported `.proto` files are looked for, besides the target's own and protoc's; they start at the
    /// target's folder.
    var importPaths: [String]?
    /// The compiler; the first `protoc` on `PATH` by default.
    var protoc: String?

    private enum CodingKeys: CodingKey { case visibility, importPaths, protoc }

    /// The generator's `CodeGenerator.version`; another one refuses to work. To raise it makes every file anew.
    static let generatorVersion = 3

    /// The file itself, if there is one.
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

    /// Files outside the target that its own may import: they make it out of date too.
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
