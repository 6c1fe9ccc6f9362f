import Glibc
import Synchronization

/// Finds ports on 127.0.0.1 for servers that cannot choose a free port themselves.
package enum LocalPort {
    package struct NoneFree: Error {}

    /// The position where the search for the next port begins.
    private static let offset = Atomic<Int>(Int(getpid()) * 37)

    /// Returns a port that no other server of this process gets. Outgoing connections do not use it either, because it
    /// is below the range that the system assigns to them (`net.ipv4.ip_local_port_range`).
    package static func free() throws -> UInt16 {
        for _ in 0..<1_000 {
            let candidate = UInt16(20_000 + offset.add(1, ordering: .relaxed).newValue % 12_000)
            if isFree(candidate) { return candidate }
        }
        throw NoneFree()
    }

    /// Returns true if a server accepts connections on `port`.
    package static func takesConnections(_ port: UInt16) -> Bool {
        withSocket { descriptor in withAddress(port) { connect(descriptor, $0, $1) == 0 } }
    }

    /// Returns true if a server could listen on `port`. Like most servers, it sets SO_REUSEADDR. A child process
    /// inherits our sockets until it executes its program, and this option prevents a test socket from blocking the
    /// port for the server.
    static func isFree(_ port: UInt16) -> Bool {
        withSocket { descriptor in
            var isReused: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
            return withAddress(port) { bind(descriptor, $0, $1) == 0 }
        }
    }

    private static func withSocket(_ body: (Int32) -> Bool) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        return body(descriptor)
    }

    /// Calls `body` with the socket address of `port`.
    static func withAddress<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
