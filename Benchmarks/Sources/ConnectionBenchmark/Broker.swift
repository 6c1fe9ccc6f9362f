import BenchmarkHarness
import Glibc

/// A mosquitto process for this benchmark, on a free port of the loopback interface.
final class Broker {
    let port: UInt16
    private let process: pid_t
    private let configuration: String

    /// Starts mosquitto, and waits until it accepts connections.
    init() throws {
        port = try Self.freePort()
        configuration = "/tmp/courier-connection-\(getpid()).conf"
        guard let file = fopen(configuration, "w") else { throw Failure("can not write \(configuration)") }
        fputs("listener \(port) 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_type none\n", file)
        fclose(file)
        let command: [String] = ["mosquitto", "-c", configuration]
        let words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let error = posix_spawnp(&process, "mosquitto", nil, nil, words, environ)
        guard error == 0 else {
            unlink(configuration)
            throw Failure("can not start mosquitto: \(String(cString: strerror(error)))")
        }
        self.process = process
        try waitUntilOpen()
    }

    deinit {
        kill(process, SIGTERM)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        unlink(configuration)
    }

    private func waitUntilOpen() throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            let probe = Self.socket()
            defer { close(probe) }
            var address = Self.loopback(port)
            let isOpen = Self.withSocketAddress(&address) { Glibc.connect(probe, $0, $1) == 0 }
            if isOpen { return }
            usleep(10_000)  // Polls, because another process does not report that it listens.
        }
        throw Failure("mosquitto does not take connections on port \(port)")
    }

    private static func freePort() throws -> UInt16 {
        let probe = socket()
        defer { close(probe) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withSocketAddress(&address) { bind(probe, $0, $1) == 0 && getsockname(probe, $0, &length) == 0 }
        guard isBound else { throw Failure("no free port: \(String(cString: strerror(errno)))") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func socket() -> Int32 { Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
