import Foundation

/// Reads the arguments of the command line.
package enum Options {
    /// Returns the word after `name`.
    package static func text(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count else {
            return nil
        }
        return CommandLine.arguments[index + 1]
    }

    /// Returns the number after `name`.
    package static func number(_ name: String) -> UInt64? { text(name).flatMap { UInt64($0) } }

    package static func has(_ name: String) -> Bool { CommandLine.arguments.contains(name) }
}
