import Foundation
import Glibc

/// A TCP connection to this machine that sends exactly the bytes that a test chooses.
final class RawHTTP: Sendable {
    struct Failure: Error { let message: String }

    private let descriptor: Int32

    init(address host: String = "127.0.0.1", port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(message: "socket: \(errno)") }
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes the socket here, because all members are initialized.
        guard result == 0 else { throw Failure(message: "connect: \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(message: "send: \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Reads some bytes; returns no bytes at the end of the stream.
    func read() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else {
            if errno == ECONNRESET { return [] }
            throw Failure(message: "recv: \(errno)")
        }
        return Array(buffer.prefix(count))
    }

    /// Reads until the text so far contains `mark`.
    func read(until mark: String) throws -> String {
        var all: [UInt8] = []
        while true {
            let part = try read()
            guard !part.isEmpty else {
                throw Failure(message: "ended before \(mark): \(String(decoding: all, as: UTF8.self))")
            }
            all += part
            let text = String(decoding: all, as: UTF8.self)
            if text.contains(mark) { return text }
        }
    }
}

/// The response of a server.
struct HTTPReply: Sendable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: Data
    /// True if the end of the body was received.
    let isWhole: Bool

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    func object() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
    }

    init(_ bytes: [UInt8]) throws {
        let end = Data(bytes).range(of: Data("\r\n\r\n".utf8))
        guard let end else { throw RawHTTP.Failure(message: "no head: \(String(decoding: bytes, as: UTF8.self))") }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw RawHTTP.Failure(message: "no status: \(lines[0])")
        }
        self.status = status
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
        let rest = Array(bytes[end.upperBound...])
        if headers["transfer-encoding"] == "chunked" {
            (body, isWhole) = Self.joined(rest)
        } else {
            body = Data(rest)
            isWhole = headers["content-length"].flatMap { Int($0) } == rest.count
        }
    }

    private static func joined(_ bytes: [UInt8]) -> (Data, Bool) {
        var body = Data()
        var index = 0
        while let line = bytes[index...].firstIndex(of: 0x0A) {
            let text = String(decoding: bytes[index..<line], as: UTF8.self).trimmingCharacters(in: .whitespaces)
            guard let size = Int(text.trimmingCharacters(in: .newlines), radix: 16) else { return (body, false) }
            if size == 0 { return (body, true) }
            guard line + 1 + size + 2 <= bytes.count else { return (body, false) }
            body += bytes[line + 1..<line + 1 + size]
            index = line + 1 + size + 2
        }
        return (body, false)
    }
}

/// Runs blocking work on its own thread, so that tests do not block each other.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result(catching: body)) }.start()
    }
}
