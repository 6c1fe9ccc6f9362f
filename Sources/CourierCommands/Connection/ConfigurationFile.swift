import CommandArguments
import Foundation

/// The options that are read before the command line. They are in the file that `-o` names, or in the configuration
/// file of the user.
///
/// Each line contains an option and, after the first space, its value. A line that begins with `#` is a comment.
struct ConfigurationFile {
    /// The longest file that is read, in bytes.
    static let sizeLimit = 1 << 20

    /// The arguments of each line.
    let lines: [[String]]

    /// Reads the file that the command line names. Without a name, reads the configuration file of the user, if it
    /// exists.
    ///
    /// - Parameters:
    ///   - named: The path of the file of `-o`, if there is one.
    ///   - name: The name of the user's file in `$XDG_CONFIG_HOME` or `~/.config`.
    ///   - environment: The environment.
    /// - Throws: ``ArgumentError`` if the file of `-o` cannot be read.
    init(at named: String?, orNamed name: String, in environment: [String: String]) throws(ArgumentError) {
        if let named {
            guard let text = Self.text(of: named) else {
                throw ArgumentError(
                    "Unable to open options file \"\(named)\".",
                    hint: "Check the name and the read permission of the file.")
            }
            lines = Self.lines(of: text)
        } else {
            lines = Self.folder(environment).flatMap { Self.text(of: "\($0)/\(name)") }.map(Self.lines) ?? []
        }
    }

    /// Returns the arguments of each line of a text.
    static func lines(of text: String) -> [[String]] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            if line.hasPrefix("#") { return nil }
            let line = line.drop { $0 == " " }
            guard let space = line.firstIndex(of: " ") else { return line.isEmpty ? nil : [String(line)] }
            let value = String(line[line.index(after: space)...])
            return value.isEmpty ? [String(line[..<space])] : [String(line[..<space]), value]
        }
    }

    private static func folder(_ environment: [String: String]) -> String? {
        environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map { "\($0)/.config" }
    }

    private static func text(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let bytes = try? file.read(upToCount: sizeLimit) ?? Data() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
