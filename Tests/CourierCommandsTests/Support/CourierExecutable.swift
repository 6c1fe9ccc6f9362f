import Foundation
import Glibc

/// The program `courier` that was built with these tests.
///
/// The runner of the tests is an executable of its own in the folder of the build's products, where `courier` is, too: it is
/// asked of the kernel, since the working folder and the arguments may be anything.
enum CourierExecutable {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    static let path: Result<String, Missing> = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The runner may be a tool of the toolchain, which then has the bundle of the tests among its arguments.
        let places = [runner] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        for place in places {
            let candidate = URL(fileURLWithPath: place).deletingLastPathComponent().appendingPathComponent("courier")
            if access(candidate.path, X_OK) == 0 { return .success(candidate.path) }
        }
        return .failure(Missing(description: "There is no courier beside \(places)."))
    }()
}
