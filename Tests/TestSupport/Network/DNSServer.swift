package import CourierTransport
import Glibc
import Synchronization

/// A DNS server on a UDP port of 127.0.0.1 that answers queries for service records as a test defines.
package final class DNSServer: Sendable {
    /// The answer to a query.
    package enum Answer: Sendable {
        case records([ServiceRecord])
        /// The name does not exist.
        case noName
        /// The name has no records of this type.
        case noRecords
        /// The server reports a failure (SERVFAIL).
        case failure
        /// The message contains these bytes in place of one record.
        case bytes([UInt8])
    }

    package let port: UInt16
    private let socket: Int32
    private struct State {
        var answers: [String: Answer] = [:]
        var asked: [String] = []
        var isEnded = false
    }
    private let state = Mutex(State())

    /// Starts the server. A name without an answer does not exist.
    package init(_ answers: [String: Answer] = [:]) throws {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var bound: UInt16?
        for _ in 0..<100 where bound == nil {
            let candidate = try LocalPort.free()
            let result = LocalPort.withAddress(candidate) { bind(descriptor, $0, $1) }
            if result == 0 { bound = candidate }
        }
        guard let bound else {
            close(descriptor)
            throw LocalPort.NoneFree()
        }
        socket = descriptor
        port = bound
        state.withLock { $0.answers = answers }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<DNSServer>.fromOpaque(argument).takeRetainedValue().serve()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            throw LocalPort.NoneFree()
        }
        pthread_detach(thread)
    }

    deinit { close(socket) }

    /// The names that were queried, in order.
    package var asked: [String] { state.withLock { $0.asked } }

    /// Sets the answer for a name from now on.
    package func set(_ name: String, _ answer: Answer) { state.withLock { $0.answers[name] = answer } }

    /// Ends the server's thread.
    package func end() {
        state.withLock { $0.isEnded = true }
        _ = LocalPort.withAddress(port) { sendto(socket, [0], 1, 0, $0, $1) }
    }

    private func serve() {
        var question = [UInt8](repeating: 0, count: 2_048)
        while true {
            var sender = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &sender) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(socket, &question, question.count, 0, $0, &size)
                }
            }
            if state.withLock({ $0.isEnded }) { return }
            guard count > 12, let answer = reply(to: Array(question.prefix(count))) else { continue }
            _ = withUnsafePointer(to: &sender) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(socket, answer, answer.count, 0, $0, size)
                }
            }
        }
    }

    private func reply(to question: [UInt8]) -> [UInt8]? {
        var labels: [String] = []
        var offset = 12
        while offset < question.count, question[offset] != 0 {
            let end = offset + 1 + Int(question[offset])
            guard end < question.count else { return nil }
            labels.append(String(decoding: question[offset + 1..<end], as: UTF8.self))
            offset = end
        }
        let name = labels.joined(separator: ".")
        let answer = state.withLock { state in
            state.asked.append(name)
            return state.answers[name] ?? .noName
        }
        guard offset + 5 <= question.count else { return nil }
        let asked = Array(question[12..<offset + 5])
        return Self.message(id: Array(question[0..<2]), asked, answer)
    }

    /// Returns a complete DNS message with this answer, for tests of the parser.
    package static func message(to name: String, _ answer: Answer) -> [UInt8] {
        message(id: [0, 7], nameBytes(name) + [0, 33, 0, 1], answer)
    }

    private static func message(id: [UInt8], _ question: [UInt8], _ answer: Answer) -> [UInt8] {
        var code: UInt8 = 0
        var records: [[UInt8]] = []
        switch answer {
        case .records(let list): records = list.map(record)
        case .noName: code = 3
        case .noRecords: break
        case .failure: code = 2
        case .bytes(let bytes): records = [bytes]
        }
        let header = id + [0x81, 0x80 | code, 0, 1] + number(UInt16(records.count)) + [0, 0, 0, 0]
        return header + question + records.flatMap(\.self)
    }

    private static func record(_ record: ServiceRecord) -> [UInt8] {
        let target = nameBytes(record.target)
        let data = number(record.priority) + number(record.weight) + number(record.port) + target
        // The name is a pointer to the name in the question. Then follow the type, the class, a lifetime of 60 s, and
        // the data.
        return [0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 60] + number(UInt16(data.count)) + data
    }

    private static func number(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func nameBytes(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }
}
