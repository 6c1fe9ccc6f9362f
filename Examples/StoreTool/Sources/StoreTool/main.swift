import CourierCore
import Foundation

// store list|count|export|purge <file>: see `Command.usage`.

func fail(_ message: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("store: \(message)\n".utf8))
    exit(status)
}

do {
    let command = try Command(Array(CommandLine.arguments.dropFirst()))
    try await StoreTool(write: { print($0) }).perform(command)
} catch CommandError.usage(let message) {
    fail("\(message)\n\n\(Command.usage)", 2)
} catch CommandError.failed(let message) {
    fail(message, 1)
} catch let error as CourierError {
    fail(error.message, 1)
} catch {
    fail("\(error)", 1)
}
