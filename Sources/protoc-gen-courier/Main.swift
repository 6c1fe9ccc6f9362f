import CourierProtobuf
import CourierProtobufGenerator
import Foundation

/// The protoc plugin. It reads a request from standard input, and writes the response to standard output.
@main
struct Main {
    static func main() {
        do {
            let input = try FileHandle.standardInput.readToEnd() ?? Data()
            let answer = try CodeGenerator.response(to: CodeGeneratorRequest(protobufData: input)).protobufData()
            try FileHandle.standardOutput.write(contentsOf: answer)
        } catch {
            FileHandle.standardError.write(Data("protoc-gen-courier: \(error)\n".utf8))
            exit(1)
        }
    }
}
