import CTerminal
import Foundation

/// The system calls that the example needs.
enum Descriptors {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    /// Creates a pipe. Bytes that are written to `writing` are read from `reading`.
    static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw Failure("pipe") }
        return (ends[0], ends[1])
    }

    /// Opens the two ends of a pseudo-terminal that passes every byte unchanged, like a serial line to a modem or an
    /// accessory.
    static func pseudoTerminal() throws -> (line: Int32, peer: Int32) {
        var (peer, line): (Int32, Int32) = (-1, -1)
        guard openpty(&peer, &line, nil, nil, nil) == 0 else { throw Failure("openpty") }
        // Without raw mode, the terminal would interpret some bytes as line ends, erase characters, Ctrl-C or flow
        // control.
        var attributes = termios()
        guard tcgetattr(line, &attributes) == 0 else { throw Failure("tcgetattr") }
        cfmakeraw(&attributes)
        guard tcsetattr(line, TCSANOW, &attributes) == 0 else { throw Failure("tcsetattr") }
        return (line, peer)
    }

    /// Opens a connection to a port of this machine.
    static func socket(to port: UInt16) throws -> Int32 {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            defer { close(socket) }
            throw Failure("connect to port \(port)")
        }
        return socket
    }

    /// Returns the number of bytes that can be read now.
    static func waitingCount(_ descriptor: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }
}
