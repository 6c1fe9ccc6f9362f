/// Sends one DNS query for service records, and waits for its answer.
enum ServiceQuery {
    enum Answer {
        case bytes([UInt8])
        /// The name does not exist, or it has no service record.
        case none
        /// No answer arrived, for this reason.
        case failed(String)
    }

    /// Queries the service records of `name`, with an answer of at most `answerLimit` bytes. `server` is an IPv4 address
    /// in network byte order and a port; `nil` for the system's servers. The call blocks.
    static func send(_ name: String, to server: (address: UInt32, port: UInt16)?, answerLimit: Int) -> Answer {
        #if os(Linux)
            LinuxResolver.query(name, server, answerLimit)
        #else
            .failed("this platform cannot look up service records; name the broker's host instead")
        #endif
    }
}
