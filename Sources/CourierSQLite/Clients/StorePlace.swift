package import CourierCore
package import Foundation

/// The location of a client's messages if the app sets no message store: a file for each client id, in a folder for
/// each program.
///
/// ```
/// ~/.local/state / <program> / messages-<hash of the client id>.courier
/// ```
package struct StorePlace: Sendable {
    /// The broker in the scope of a client's messages. The value is constant, because the messages belong to the client
    /// id, for every broker of the client.
    package static let broker = "any"

    private static let prefix = "messages-"
    private static let suffix = ".courier"

    /// The folder that contains one folder for each program.
    package let root: URL
    /// The name of the program's folder.
    package let program: String

    /// Chooses the folders from the environment.
    ///
    /// - Parameters:
    ///   - program: The name of the program's folder; `nil` for the name of the executable.
    ///   - environment: The variables of the process.
    /// - Throws: `invalidConfiguration` if the variables name no folder, or `program` cannot be the name of a folder.
    package init(program: String?, environment: [String: String]) throws(CourierError) {
        root = try Self.root(environment)
        self.program = program ?? ProcessInfo.processInfo.processName
        guard Self.isName(self.program) else {
            throw CourierError(
                .invalidConfiguration,
                "\(self.program.quoted()) cannot be the name of a folder for messages. "
                    + "Set `session.storeName` to a name of at most 255 bytes without slashes.")
        }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && text.utf8.count <= 255
            && !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// Returns the folder that contains one folder for each program.
    ///
    /// - Parameter environment: The variables of the process.
    /// - Returns: The first of the following paths that is absolute: `$XDG_STATE_HOME`, the first folder of
    ///   `$STATE_DIRECTORY`, and `~/.local/state`.
    /// - Throws: `invalidConfiguration` if none of these paths is absolute.
    package static func root(_ environment: [String: String]) throws(CourierError) -> URL {
        func absolute(_ path: Substring?) -> URL? {
            path.flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: String($0), isDirectory: true) : nil }
        }
        if let folder = absolute(environment["XDG_STATE_HOME"]?[...]) { return folder }
        if let folder = absolute(environment["STATE_DIRECTORY"]?.split(separator: ":").first) { return folder }
        if let home = absolute(environment["HOME"]?[...]) {
            return home.appendingPathComponent(".local/state", isDirectory: true)
        }
        throw CourierError(
            .invalidConfiguration,
            "There is no folder for messages: neither XDG_STATE_HOME nor STATE_DIRECTORY nor HOME is an absolute path. "
                + "Set one of these variables, or set `messageStore`.")
    }

    /// The file of a client id. The name does not reveal the client id, which may identify a person.
    package func file(of clientID: String) -> URL {
        root.appendingPathComponent(program, isDirectory: true).appendingPathComponent(Self.fileName(of: clientID))
    }

    /// Returns a file name with the FNV-1a hash of the client id's bytes. Bytes are used because brokers also compare
    /// client ids by their bytes.
    private static func fileName(of clientID: String) -> String {
        let hash = clientID.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.count) + digits + suffix
    }

    /// Finds the stores of all programs.
    ///
    /// - Parameter root: The folder that contains one folder for each program.
    /// - Returns: The files, in the order of their paths.
    package static func files(in root: URL) -> [URL] {
        contents(of: root).flatMap { contents(of: $0) }
            .filter { $0.lastPathComponent.hasPrefix(prefix) && $0.lastPathComponent.hasSuffix(suffix) }
            .sorted { $0.path < $1.path }
    }

    private static func contents(of folder: URL) -> [URL] {
        let manager = FileManager.default
        return (try? manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    /// Finds the stores that a client with this id may have left behind. The result has the stores of other client ids
    /// in this program's folder. It also has the stores of this client id in the folders of other programs.
    ///
    /// - Parameter clientID: The client id.
    /// - Returns: The files, in the order of their paths.
    package func relatives(of clientID: String) -> [URL] {
        let own = file(of: clientID)
        return Self.files(in: root).filter { file in
            let isOfProgram = file.deletingLastPathComponent().lastPathComponent == program
            return isOfProgram != (file.lastPathComponent == own.lastPathComponent)
        }
    }
}
