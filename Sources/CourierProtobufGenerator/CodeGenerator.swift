import CourierProtobuf

/// What all files of a request have in common.
struct GeneratorContext {
    let types: TypeTable
    let containment: Containment
    let options: GeneratorOptions

    /// Whether a message comes from a file that says `syntax = "proto3"`.
    func isProto3(_ message: String) -> Bool { types.messages[message]?.file.syntax == "proto3" }
}

/// Makes Swift source of `.proto` files: what `protoc-gen-courier` does between its input and its output.
package enum CodeGenerator {
    /// Raised whenever other code is made of the same files. The build plugin compares it to know whether what
    /// was made is still good; the age of this program says nothing, since it is linked anew without reason.
    package static let version = 3

    /// Answers a request of protoc. What is wrong with a `.proto` file is part of the answer.
    ///
    /// - Parameter request: What protoc asks.
    /// - Returns: The files, or an error for protoc to print.
    package static func response(to request: CodeGeneratorRequest) -> CodeGeneratorResponse {
        var response = CodeGeneratorResponse()
        response.supportedFeatures = 1  // proto3 `optional`.
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
