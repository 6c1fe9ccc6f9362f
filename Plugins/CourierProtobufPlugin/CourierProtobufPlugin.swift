import Foundation
import PackagePlugin

/// Generates Swift from the `.proto` files in a target's folder when the target is built.
///
/// One run of protoc generates all files of a target. protoc runs again only if an input file is newer than the last
/// run, the command or the generator's version changed, or an output is missing. The inputs are the `.proto` files and
/// the settings file.
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

    /// Runs protoc unless all outputs exist, the last run used the same command, and no input is newer than the last
    /// run.
    ///
    /// SwiftPM starts this script more often than needed, because the generator is one of its inputs. In the second
    /// build after a clean build, SwiftPM links the generator again. The generator's version is part of the command, so
    /// the script detects a changed generator.
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
