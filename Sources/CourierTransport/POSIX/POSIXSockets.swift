#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Creates sockets and pipes with calls of POSIX only.
///
/// POSIX needs several calls for a private descriptor. So a child process that another thread starts between two of
/// these calls can inherit the new descriptor.
enum POSIXSockets {
    static func makeStream(family: Int32) -> Int32 {
        let made = socket(family, Sockets.stream, 0)
        guard made >= 0 else { return -errno }
        let number = prepare(made)
        if number == 0 { return made }
        close(made)
        return -number
    }

    static func accept(_ listener: Int32) -> Int32 {
        let accepted = acceptOnce(listener)
        if accepted < 0 || prepare(accepted) == 0 { return accepted }
        close(accepted)
        return -ECONNABORTED
    }

    /// Creates a pipe whose two ends do not block. Returns 0 or a negative error number.
    static func makePipe(_ ends: inout (reader: Int32, writer: Int32)) -> Int32 {
        var made: [Int32] = [-1, -1]
        guard pipe(&made) == 0 else { return -errno }
        for end in made {
            let number = prepare(end)
            if number == 0 { continue }
            close(made[0])
            close(made[1])
            return -number
        }
        ends = (made[0], made[1])
        return 0
    }

    /// Makes a descriptor non-blocking and private to this process. Returns 0 or an error number.
    private static func prepare(_ descriptor: Int32) -> Int32 {
        if fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 { return errno }
        let number = -Sockets.setNonblocking(descriptor)
        if number == 0 { Sockets.preventSignal(descriptor) }
        return number
    }
}

/// Calls accept(2). This function is outside the type `POSIXSockets`, because the type has a function with the same
/// name. Returns a negative error number on failure.
private func acceptOnce(_ listener: Int32) -> Int32 {
    let accepted = accept(listener, nil, nil)
    return accepted < 0 ? -errno : accepted
}
