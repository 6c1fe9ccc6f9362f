extension LocalPort {
    package struct StillTaken: Error { package let port: UInt16 }

    /// Waits until `port` is free, after a server of this process has stopped there.
    ///
    /// A child process inherits our sockets until it executes its program. Meanwhile, a closed socket remains in use:
    /// no other server can listen on its port, and connections are not refused.
    package static func untilFree(_ port: UInt16) async throws {
        let end = ContinuousClock.now + .patience
        while !isFree(port) {
            guard ContinuousClock.now < end else { throw StillTaken(port: port) }
            try await Task.sleep(for: .milliseconds(5))  // Polls, because no event reports that the port is free.
        }
    }
}
