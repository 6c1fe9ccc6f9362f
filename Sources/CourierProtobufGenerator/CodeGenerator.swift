import CourierProtobuf

/// The data that is used to generate the code of all files in one request.
struct GeneratorContext {
    let types: TypeTable
    let containment: Containment
    let options: GeneratorOptions

    /// True if the message is declared in a file with `syntax = "proto3"`.
    func isProto3(_ message: String) -> Bool { types.messages[message]?.file.syntax == "proto3" }
}

/// Generates Swift source from `.proto` files. `protoc-gen-courier` calls it between reading a request and writing the
/// response.
package enum CodeGenerator {
    /// The version of the generated code. Increase it whenever the generator makes different code from the same files.
    /// The build plugin compares versions to decide whether generated files are up to date. It cannot use the
    /// modification time of this program, because SwiftPM may link the program again although nothing changed.
    package static let version = 3

    /// Returns the response to a request from protoc. Errors in a `.proto` file are part of the response.
    ///
    /// - Parameter request: The request from protoc.
    /// - Returns: The generated files, or an error message that protoc prints.
    package static func response(to request: CodeGeneratorRequest) -> CodeGeneratorResponse {
        var response = CodeGeneratorResponse()
        response.supportedFeatures = 1  // FEATURE_PROTO3_OPTIONAL: the generator supports `optional` in proto3.
        do throws(GeneratorError) {
            let types = TypeTable(request.files)
            let context = GeneratorContext(
                types: types, containment: Containment(types), options: try GeneratorOptions(request.parameter))
            for name in request.filesToGenerate {
                guard let file = request.files.first(where: { $0.name == name }) else {
                    throw GeneratorError("protoc did not send \(name)")
                }
                var output = CodeGeneratorResponse.File()
                output.name = context.options.output(for: name)
                output.content = try source(of: file, context)
                response.files.append(output)
            }
        } catch { response.error = error.message }
        return response
    }

    private static func source(of file: FileDescriptor, _ context: GeneratorContext) throws(GeneratorError) -> String {
        guard ["", "proto2", "proto3"].contains(file.syntax) else {
            throw GeneratorError("\(file.name): syntax \"\(file.syntax)\" is not supported; use proto2 or proto3")
        }
        let visibility = context.options.visibility == .internal ? "" : "\(context.options.visibility.rawValue) "
        let comments = Comments(file)
        var source = SourceText()
        source.line("// Made by protoc-gen-courier from \(file.name). Changes would be lost.")
        source.line("// swift-format-ignore-file")
        if context.options.importsRuntime {
            source.line()
            source.line("\(visibility)import CourierProtobuf")
        }
        let scope = file.package.isEmpty ? "" : ".\(file.package)"
        for (index, enumeration) in file.enums.enumerated() {
            source.line()
            EnumSource(
                descriptor: enumeration, name: context.types.enumerations["\(scope).\(enumeration.name)"]?.path ?? "",
                visibility: visibility, comments: comments, path: [Comments.Step.fileEnum, Int32(index)]
            ).write(to: &source)
        }
        for (index, message) in file.messages.enumerated() {
            let fullName = "\(scope).\(message.name)"
            source.line()
            do throws(GeneratorError) {
                try MessageSource(
                    message, fullName: fullName, name: context.types.messages[fullName]?.path ?? "",
                    visibility: visibility, context: context, comments: comments,
                    path: [Comments.Step.fileMessage, Int32(index)], isProto3: file.syntax == "proto3"
                ).write(to: &source)
            } catch { throw GeneratorError("\(file.name): \(error.message)") }
        }
        return source.text
    }
}
