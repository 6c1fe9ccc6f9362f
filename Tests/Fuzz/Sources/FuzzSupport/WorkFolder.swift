import Glibc

/// The folder for files of one fuzzer, in memory.
package enum WorkFolder {
    /// The path of the folder. The process creates it, and removes its files before each input.
    package static let path: String = {
        var template = Array("/dev/shm/courier-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("/dev/shm has no room for a folder") }
        atexit { WorkFolder.removeAll(withFolder: true) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// Removes all files, and returns the path of the file with this name.
    package static func emptied(for name: String) -> String {
        removeAll(withFolder: false)
        return "\(path)/\(name)"
    }

    /// Writes a file.
    package static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { fatalError("\(path) cannot be created") }
        defer { fclose(file) }
        demand(fwrite(bytes, 1, bytes.count, file) == bytes.count, "the file is written")
    }

    /// Reads a file.
    package static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { fatalError("\(path) cannot be read") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return bytes
    }

    private static func removeAll(withFolder: Bool) {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { unlink("\(path)/\(name)") }
        }
        closedir(folder)
        if withFolder { rmdir(path) }
    }
}
