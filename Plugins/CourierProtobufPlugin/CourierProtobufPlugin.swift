import Foundation
import PackagePlugin

/// Makes Swift of the `.proto` files in a target's folder while the target is built.
///
/// One run of protoc makes all files of a target. It runs again only when one of the `.proto` files or the
/// settings is newer than what was made, or the plugin came with another version of the generator.
@main
struct CourierProtobufPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let folder = target.directoryURL
        let files = target.sourceFiles(withSuffix: "proto").map(\.url).sorted { $0.path < $1.path }
        guard !files.isEmpty else {
            Diagnostics.warning("\(target.name) uses CourierProtobufPlugin and has no .proto file")
            return []
        }
        let settings = try ProtobufSettings.read(in: folder)
        let generator = try context.tool(named: "protoc-gen-courier").url
        let output = context.pluginWorkDirectoryURL
        let names = files.map { String($0.path.dropFirst(folder.path.count)).drop { $0 == "/" } }
        let outputs = names.map { name in
            let stem = name.dropLast(".proto".count).map { $0 == "/" ? "_" : $0 }
            return output.appending(path: String(stem) + ".pb.swift")
        }
        let inputs = files + settings.files + settings.importedFiles(from: folder)
        let protoc = try settings.protocURL()
        let arguments = settings.arguments(generator: generator, folder: folder, output: output) + files.map(\.path)
        let stamp = output.appending(path: "courier-protobuf.stamp")
        return [
            .buildCommand(
                displayName: "Making Swift of \(names.joined(separator: ", "))",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", stamp.path, arguments.joined(separator: " ")]
                    + inputs.map(\.path) + ["--"] + outputs.map(\.path) + ["--", protoc.path] + arguments,
                inputFiles: inputs, outputFiles: outputs)
        ]
    }

    /// Runs protoc unless everything it would make is there, made by the same command, and newer than what it is made of.
    ///
    /// SwiftPM asks more often than needed: it counts the generator as an input and links it anew in the second build
    /// after a clean one. The generator's version is part of the command, so a really new one is noticed.
    private static let script = """
        stamp=$1 command=$2 fresh=yes
        shift 2
        [ "$(cat "$stamp" 2>/dev/null)" = "$command" ] || fresh=
        while [ "$1" != -- ]; do [ "$1" -ot "$stamp" ] || fresh=; shift; done
        shift
        while [ "$1" != -- ]; do [ -e "$1" ] || fresh=; shift; done
        shift
        [ -z "$fresh" ] || exit 0
        "$@" && printf %s "$command" >"$stamp"
        """
}
