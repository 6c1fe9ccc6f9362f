#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A text file that the kernel generates when it is read, such as the files in `/proc`.
    enum KernelFile {
        /// Reads a file.
        ///
        /// - Parameters:
        ///   - path: The path of the file.
        ///   - limit: The number of bytes that the caller needs. Reading stops soon after this number.
        /// - Returns: The text; `nil` if the file cannot be opened.
        static func text(of path: String, limit: Int) -> String? {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 4_096)
            while bytes.count < limit {
                let count = read(descriptor, &part, part.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes += part[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
