import Foundation
import Glibc

/// The payload to send: its bytes, or the fact that the input contains the payloads.
package enum Payload: Hashable, Sendable {
    /// The command line contains no option for the payload.
    case missing
    /// One message.
    case bytes([UInt8])
    /// Each line of the input is one message.
    case lines

    /// The maximum payload size in bytes, as in the mosquitto clients: the maximum remaining length of an MQTT packet.
    static let sizeLimit = 268_435_455

    /// Reads the payload from its source. If each line of the input is a message, no line is read yet.
    init(_ source: PayloadArguments.Source, _ console: Console) throws(StartFailure) {
        switch source {
        case .text(let text): self = .bytes(Array(text.utf8))
        case .nothing: self = .bytes([])
        case .lines: self = .lines
        case .file(let path):
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.unreadable(path) }
            defer { close(descriptor) }
            guard let bytes = Self.readAll(descriptor) else { throw Self.unreadable(path) }
            guard bytes.count <= Self.sizeLimit else {
                throw StartFailure(
                    "Error: File must be less than \(Self.sizeLimit) bytes.", "",
                    "Error loading input file \"\(path)\".")
            }
            self = .bytes(bytes)
        case .input:
            let bytes = Self.readAll(console.input) ?? []
            if bytes.isEmpty {
                throw StartFailure("Error: Zero length input.", "Error loading input from stdin.")
            }
            guard bytes.count <= Self.sizeLimit else {
                throw StartFailure(
                    "Error: Message length must be less than \(Self.sizeLimit) bytes.", "",
                    "Error loading input from stdin.")
            }
            self = .bytes(bytes)
        }
    }

    /// Reads all bytes of a descriptor. Stops soon after the size limit is exceeded. Returns `nil` if the descriptor
    /// cannot be read.
    private static func readAll(_ descriptor: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while all.count <= sizeLimit {
            let count = read(descriptor, &part, part.count)
            if count < 0, isWorthAnotherRead(descriptor) { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            all += part[..<count]
        }
        return all
    }

    /// Returns whether a read that has just failed must be repeated. This is true if a signal interrupted the read. It
    /// is also true if a non-blocking descriptor had no data; the method then waits for data.
    static func isWorthAnotherRead(_ descriptor: Int32) -> Bool {
        switch errno {
        case EINTR: return true
        case EAGAIN:
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&waiting, 1, -1)
            return true
        default: return false
        }
    }

    /// Returns the error for a file that cannot be read. Must be called directly after the failed call, while `errno`
    /// contains the reason.
    private static func unreadable(_ path: String) -> StartFailure {
        StartFailure(
            "Error: Unable to open file \"\(path)\".", "Error loading input file \"\(path)\".",
            explanation: "\(path): \(String(cString: strerror(errno)))")
    }
}
