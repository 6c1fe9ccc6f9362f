import Foundation
import PackagePlugin

/// Generates Swift from the `.proto` files of some targets and writes it next to them, for projects that commit
/// generated code.
///
///     swift package generate-protobuf --target Chat [--visibility public] [--output Sources/Chat/Generated]
@main
struct GenerateProtobufCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let visibility = extractor.extractOption(named: "visibility").last
        let output = extractor.extractOption(named: "output").last
        guard !names.isEmpty, extractor.remainingArguments.isEmpty else {
            throw ProtobufPluginError(
                description:
                    "usage: swift package generate-protobuf --target NAME… [--visibility public] [--output FOLDER]")
        }
        for target in try context.package.targets(named: names) {
            guard let target = target as? any SourceModuleTarget else { continue }
            try generate(target, visibility: visibility, output: output, context)
        }
    }

    private func generate(
        _ target: any SourceModuleTarget, visibility: String?, output: String?, _ context: PluginContext
    ) throws {
        let folder = target.directoryURL
        let files = target.sourceFiles(withSuffix: "proto").map(\.url.path).sorted()
        guard !files.isEmpty else { throw ProtobufPluginError(description: "\(target.name) has no .proto file") }
        var settings = try ProtobufSettings.read(in: folder)
        settings.visibility = visibility ?? settings.visibility
        let destination = output.map { context.package.directoryURL.appending(path: $0) } ?? folder
        try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: true)
        let protoc = Process()
        protoc.executableURL = try settings.protocURL()
        protoc.arguments =
            settings.arguments(
                generator: try context.tool(named: "protoc-gen-courier").url, folder: folder, output: destination)
            + files
        try protoc.run()
        protoc.waitUntilExit()
        guard protoc.terminationStatus == 0 else {
            throw ProtobufPluginError(description: "protoc found errors in \(target.name), see above")
        }
        print("\(target.name): \(files.count) .proto files, Swift is in \(destination.path)")
    }
}
