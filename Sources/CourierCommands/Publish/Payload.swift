import Foundation

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
            let bytes: [UInt8]
            do throws(SystemError) { bytes = try Self.readFile(path) } catch { throw Self.unreadable(path, error) }
            guard bytes.count <= Self.sizeLimit else {
                throw StartFailure(
                    "Error: File must be less than \(Self.sizeLimit) bytes.", "",
                    "Error loading input file \"\(path)\".")
            }
            self = .bytes(bytes)
        case .input:
            let bytes = (try? Self.readAll(console.input)) ?? []
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

    private static func readFile(_ path: String) throws(SystemError) -> [UInt8] {
        let descriptor = try FileDescriptor.openForReading(path)
        defer { try? FileDescriptor.closeFile(descriptor) }
        return try readAll(descriptor)
    }

    /// Reads all bytes of a descriptor. Stops soon after the size limit is exceeded.
    private static func readAll(_ descriptor: Int32) throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while all.count <= sizeLimit {
            let count = try FileDescriptor.readBytes(descriptor, into: &part)
            if count == 0 { break }
            all += part[..<count]
        }
        return all
    }

    private static func unreadable(_ path: String, _ error: SystemError) -> StartFailure {
        StartFailure(
            "Error: Unable to open file \"\(path)\".", "Error loading input file \"\(path)\".",
            explanation: "\(path): \(error.text)")
    }
}
