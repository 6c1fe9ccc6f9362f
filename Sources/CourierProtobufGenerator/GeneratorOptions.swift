/// The options of the generator: `Name=Value` pairs that are separated by commas. They are part of `--courier_out=`,
/// before the folder, or of `--courier_opt=`.
struct GeneratorOptions {
    enum Visibility: String { case `public`, package, `internal` }
    enum FileNaming: String {
        /// The output for `a/b.proto` is `a/b.pb.swift`.
        case fullPath = "FullPath"
        /// The output for `a/b.proto` is `a_b.pb.swift`, for build systems that require unique file names in a module.
        case pathToUnderscores = "PathToUnderscores"
    }

    /// The access level of the generated types.
    private(set) var visibility = Visibility.internal
    private(set) var fileNaming = FileNaming.fullPath
    /// True if the generated code imports CourierProtobuf. The generated code inside CourierProtobuf itself must not
    /// import it.
    private(set) var importsRuntime = true

    init(_ text: String) throws(GeneratorError) {
        for option in text.split(separator: ",") where !option.allSatisfy(\.isWhitespace) {
            let parts = option.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }
            let value = parts.count == 2 ? parts[1] : ""
            switch parts[0] {
            case "Visibility":
                visibility = try Self.value(parts[0], value, Visibility(rawValue: value.lowercased()))
            case "FileNaming": fileNaming = try Self.value(parts[0], value, FileNaming(rawValue: value))
            case "ImportRuntime": importsRuntime = try Self.value(parts[0], value, Bool(value.lowercased()))
            case "Version":
                guard value == "\(CodeGenerator.version)" else {
                    throw GeneratorError(
                        "the plugin needs version \(value) of the generator; this is version \(CodeGenerator.version)")
                }
            default:
                throw GeneratorError(
                    "unknown option \(parts[0]); the options are Visibility, FileNaming, ImportRuntime and Version")
            }
        }
    }

    private static func value<Value>(_ name: String, _ text: String, _ value: Value?) throws(GeneratorError) -> Value {
        guard let value else { throw GeneratorError("the option \(name) cannot be \"\(text)\"") }
        return value
    }

    /// Returns the name of the Swift file for a `.proto` file.
    func output(for proto: String) -> String {
        let stem = proto.hasSuffix(".proto") ? String(proto.dropLast(6)) : proto
        return (fileNaming == .fullPath ? stem : stem.map { $0 == "/" ? "_" : $0 }.reduce(into: "") { $0.append($1) })
            + ".pb.swift"
    }
}

/// An error in the `.proto` files or in the options. protoc prints its message.
struct GeneratorError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

extension Substring {
    var trimmed: Substring {
        var rest = self.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
