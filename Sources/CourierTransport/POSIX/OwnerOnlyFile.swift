#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that only its owner may access. Text is only appended to the file.
///
/// Texts of several threads do not mix, because each text is appended with a single write.
final class OwnerOnlyFile: Sendable {
    /// The reason why a file must not be used.
    struct Refusal: Error {
        /// The end of an error sentence. The sentence begins with the file's name.
        let problem: String
        let errno: Int32?
    }

    private let descriptor: Int32

    /// Opens the file. If it does not exist, creates it with access for its owner only.
    ///
    /// - Throws: ``Refusal`` if the file cannot be opened, is a symbolic link, is not a regular file, belongs to
    ///   another user, or allows other users to read or write.
    init(appendingTo path: String) throws(Refusal) {
        // Without O_NONBLOCK, opening a pipe would wait for a reader.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            throw Refusal(
                problem: number == ELOOP
                    ? "is a symbolic link; name the file itself"
                    : "cannot be opened: \(String(cString: strerror(number)))", errno: number)
        }
        if let problem = Self.problem(of: descriptor) {
            close(descriptor)
            throw Refusal(problem: problem, errno: nil)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func problem(of descriptor: Int32) -> String? {
        var status = stat()
        if fstat(descriptor, &status) != 0 { return "cannot be examined" }
        if status.st_mode & S_IFMT != S_IFREG { return "is not a regular file" }
        if status.st_uid != geteuid() { return "belongs to another user; remove it or name another file" }
        guard status.st_mode & 0o077 == 0 else {
            return "is accessible to other users; remove it or set its permissions to 0600"
        }
        return nil
    }

    /// Appends bytes. Bytes that cannot be written are lost.
    func append(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
}
