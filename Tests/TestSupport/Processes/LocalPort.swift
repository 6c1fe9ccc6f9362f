import Glibc
import Synchronization

/// Ports of 127.0.0.1 for servers that do not choose one themselves.
package enum LocalPort {
    package struct NoneFree: Error {}

    /// Where the search for the next port begins.
    private static let offset = Atomic<Int>(Int(getpid()) * 37)

    /// A port that no other server of this process gets, and that no outgoing connection takes meanwhile: it is below those
    /// that the system gives away by itself (`net.ipv4.ip_local_port_range`).
    package static func free() throws -> UInt16 {
        for _ in 0..<1_000 {
            let candidate = UInt16(20_000 + offset.add(1, ordering: .relaxed).newValue % 12_000)
            if isFree(candidate) { return candidate }
        }
        throw NoneFree()
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
