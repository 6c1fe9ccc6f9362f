#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Opens, reads, writes and closes files by their descriptors.
package enum FileDescriptor {
    package static let standardInput = STDIN_FILENO
    package static let standardOutput = STDOUT_FILENO
    package static let standardError = STDERR_FILENO

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    // MARK: Opening and closing

    static func openForReading(_ path: String) throws(SystemError) -> Int32 {
        try checked(open(path, O_RDONLY | O_CLOEXEC))
    }

    /// Opens an existing file, device or pipe for writing.
    static func openForWriting(_ path: String) throws(SystemError) -> Int32 {
        try checked(open(path, O_WRONLY | O_CLOEXEC))
    }

    /// Creates a file that every user may read, as far as the process's umask allows.
    ///
    /// - Throws: ``SystemError/exists`` if the file exists already, or another error.
    static func create(_ path: String) throws(SystemError) -> Int32 {
        try checked(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666))
    }

    /// Closes a descriptor. Some file systems report a full disk only when the file is closed.
    static func closeFile(_ descriptor: Int32) throws(SystemError) {
        try checked(close(descriptor))
    }

    /// Removes the contents of an open file.
    static func truncate(_ descriptor: Int32) throws(SystemError) { try checked(ftruncate(descriptor, 0)) }

    // MARK: Reading and writing

    /// Reads bytes into a buffer once, without repeating an interrupted call.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - buffer: The buffer.
    ///   - offset: The place of the first byte in the buffer; 0 by default.
    /// - Returns: The number of bytes; 0 at the end of the input.
    /// - Throws: ``SystemError`` if the read fails.
    static func readBytesOnce(
        _ descriptor: Int32, into buffer: inout [UInt8], at offset: Int = 0
    ) throws(SystemError) -> Int {
        let count = buffer.withUnsafeMutableBytes { buffer in
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
            return read(descriptor, part.baseAddress, part.count)
        }
        guard count >= 0 else { throw SystemError.last }
        return count
    }

    /// Reads bytes into a buffer, and repeats an interrupted call. If a non-blocking descriptor has no data, the method
    /// waits for data.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - buffer: The buffer.
    ///   - offset: The place of the first byte in the buffer; 0 by default.
    /// - Returns: The number of bytes; 0 at the end of the input.
    /// - Throws: ``SystemError`` if the read fails.
    static func readBytes(
        _ descriptor: Int32, into buffer: inout [UInt8], at offset: Int = 0
    ) throws(SystemError) -> Int {
        while true {
            do throws(SystemError) { return try readBytesOnce(descriptor, into: &buffer, at: offset) } catch {
                try waitForRetry(after: error, descriptor, POLLIN)
            }
        }
    }

    /// Writes all bytes. If a non-blocking descriptor is not ready, the method waits until it is ready.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                return write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 {
                written += count
            } else {
                try waitForRetry(after: .last, descriptor, POLLOUT)
            }
        }
    }

    /// Prepares the repetition of a failed call: if the descriptor was not ready, waits until it is ready. Throws the
    /// error if a repetition is useless.
    private static func waitForRetry(
        after error: SystemError, _ descriptor: Int32, _ event: Int32
    ) throws(SystemError) {
        switch error {
        case .interrupted: break
        case .notReady:
            var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            _ = poll(&waiting, 1, -1)
        default: throw error
        }
    }

    @discardableResult
    private static func checked(_ result: Int32) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError.last }
        return result
    }
}
