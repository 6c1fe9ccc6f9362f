import Foundation
import Glibc

/// The program `courier` that was built with these tests.
///
/// The test runner and `courier` are in the same folder of build products. The kernel reports the runner's path,
/// because the working folder and the arguments are not reliable.
enum CourierExecutable {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    static let path: Result<String, Missing> = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The runner can be a tool of the toolchain. In this case its arguments contain the path of the test bundle.
        let places = [runner] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        for place in places {
            let candidate = URL(fileURLWithPath: place).deletingLastPathComponent().appendingPathComponent("courier")
            if access(candidate.path, X_OK) == 0 { return .success(candidate.path) }
        }
        return .failure(Missing(description: "There is no courier beside \(places)."))
    }()
}
