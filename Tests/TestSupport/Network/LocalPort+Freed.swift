extension LocalPort {
    package struct StillTaken: Error { package let port: UInt16 }

    /// Returns when nothing listens at `port` any more, after a server of this process has stopped there.
    ///
    /// A process that is just being started has our descriptors until it becomes another program, and with them a
    /// socket that was closed meanwhile: at the port nobody else can listen, and connections are not refused.
    package static func untilFree(_ port: UInt16) async throws {
        let end = ContinuousClock.now + .patience
        while !isFree(port) {
            guard ContinuousClock.now < end else { throw StillTaken(port: port) }
            try await Task.sleep(for: .milliseconds(5))  // Nobody says when it is.
        }
    }
}
