/// Looks up in DNS where a domain offers a service (RFC 2782).
///
/// ```swift
/// ServiceRecords.system.lookUp("_mqtt._tcp.example.com") { answer in … }
/// ```
package struct ServiceRecords: Sendable {
    package enum Answer: Hashable, Sendable {
        /// The answer has at least one usable record. The records are in the order of the answer.
        case records([ServiceRecord])
        /// The domain has no usable record for the service.
        case none
        /// The domain states that it does not offer the service: it has a record with the target ".", and no usable
        /// record.
        case unavailable
        /// No answer arrived, or the answer could not be read, for this reason.
        case failed(String)
    }

    /// The maximum size of an answer in bytes. A longer answer is cut off.
    private static let answerLimit = 16 << 10
    /// The maximum length of a name in a query (RFC 1035, section 2.3.4).
    private static let nameLimit = 253

    /// Queries the servers that the operating system's settings name.
    package static let system = ServiceRecords(server: nil)

    /// The server's IPv4 address in network byte order and its port; `nil` for the system's servers.
    private let server: (address: UInt32, port: UInt16)?
    private let threads: HostResolver

    private init(server: (address: UInt32, port: UInt16)?, threads: HostResolver = .shared) {
        self.server = server
        self.threads = threads
    }

    /// Creates an instance that queries the given DNS server instead of the system's servers.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if `address` is not an IPv4 address, or if the port is 0.
    package init(server address: String, port: UInt16) throws(TransportError) {
        try self.init(server: address, port: port, threads: .shared)
    }

    init(server address: String, port: UInt16, threads: HostResolver) throws(TransportError) {
        guard let parsed = SocketAddress.parseIPv4(address), port != 0 else {
            throw TransportError(
                .invalidConfiguration, "“\(address)” with port \(port) is not an IPv4 address with a port")
        }
        self.init(server: (parsed, port), threads: threads)
    }

    /// Looks up the records of `name`, such as `_mqtt._tcp.example.com`.
    ///
    /// `answer` is called on a resolver thread, or on the calling thread if no thread could be started. Each server
    /// that does not answer delays the call of `answer` by about ten seconds at most.
    ///
    /// - Returns: The ticket that cancels the look-up. If the name is not valid, returns `nil` after it has called
    ///   `answer`.
    @discardableResult
    package func lookUp(_ name: String, _ answer: @escaping @Sendable (Answer) -> Void) -> LookUpTicket? {
        guard (1...Self.nameLimit).contains(name.utf8.count), !name.utf8.contains(0) else {
            answer(.failed("a name of \(name.utf8.count) bytes is not a valid DNS name"))
            return nil
        }
        return threads.perform { [server] problem in
            answer(problem.map { .failed($0.message) } ?? Self.ask(name, server))
        }
    }

    private static func ask(_ name: String, _ server: (address: UInt32, port: UInt16)?) -> Answer {
        switch ServiceQuery.send(name, to: server, answerLimit: answerLimit) {
        case .bytes(let bytes): bytes.withUnsafeBytes { read($0.bytes) }
        case .none: .none
        case .failed(let reason): .failed(reason)
        }
    }

    static func read(_ message: RawSpan) -> Answer {
        guard let records = ServiceRecordAnswer.records(in: message) else { return .failed("the answer is malformed") }
        let usable = records.filter { !$0.target.isEmpty && $0.port != 0 }
        if !usable.isEmpty { return .records(usable) }
        return records.contains { $0.target.isEmpty } ? .unavailable : .none
    }
}
