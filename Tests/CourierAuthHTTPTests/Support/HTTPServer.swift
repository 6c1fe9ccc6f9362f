import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// An HTTP/1.1 server on 127.0.0.1 that sends the responses of the test, including invalid responses.
final class HTTPServer: Sendable {
    struct Request: Sendable {
        let method: String
        let target: String
        /// The header fields. The keys are names in lower case.
        let headers: [String: String]
        let body: String
    }

    enum Answer: Sendable {
        case reply(Int, [String: String] = [:], String = "")
        /// Sends these bytes unchanged, and then closes the connection.
        case bytes(String)
        /// Sends the head of a response, and then parts of this size without end. After `most` bytes it sends nothing,
        /// but keeps the connection open.
        case endless(status: Int, partSize: Int, most: Int = .max)
        case silence
        case close
        case reset

        static func json(_ text: String) -> Answer { .reply(200, ["Content-Type": "application/json"], text) }
    }

    private struct State {
        var requests: [Request] = []
        var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
        var openCount = 0
        var closings: [CheckedContinuation<Void, Never>] = []
        var sentByteCount = 0
    }

    typealias Answering = @Sendable (_ request: Request, _ number: Int) -> Answer

    let port: UInt16
    private let loop: EventLoop
    private let answering: Answering
    private let state = Mutex(State())

    private init(port: UInt16, loop: EventLoop, answering: @escaping Answering) {
        self.port = port
        self.loop = loop
        self.answering = answering
    }

    /// Runs `body` with a server. The first request has the number 0.
    static func run(
        tls: TLSContext? = nil, _ answering: @escaping Answering, _ body: (HTTPServer) async throws -> Void
    ) async throws {
        let loop = try EventLoop()
        let server = HTTPServer(port: try LocalPort.free(), loop: loop, answering: answering)
        let listener = try ChannelListener.listen(
            on: .tcp(host: "127.0.0.1", port: server.port), tls: tls, loop: loop
        ) { _ in Connection(server) }
        do { try await body(server) } catch {
            listener.close()
            await loop.shutdown()
            throw error
        }
        listener.close()
        await loop.shutdown()
    }

    func url(_ path: String = "/token", scheme: String = "http", host: String = "127.0.0.1") throws -> URL {
        try #require(URL(string: "\(scheme)://\(host):\(port)\(path)"))
    }

    var requests: [Request] { state.withLock { $0.requests } }
    /// The number of bytes that were written for endless responses.
    var sentByteCount: Int { state.withLock { $0.sentByteCount } }

    /// Waits until this number of requests were received.
    func wait(forRequests count: Int) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                if state.requests.count >= count { return true }
                state.waiters.append((count, waiter))
                return false
            }
            if isThere { waiter.resume() }
        }
    }

    /// Waits until no connection is open.
    func waitForClosing() async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                if state.openCount == 0 { return true }
                state.closings.append(waiter)
                return false
            }
            if isThere { waiter.resume() }
        }
    }

    fileprivate func answer(to request: Request) -> Answer {
        let (number, ready) = state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return (count - 1, state.waiters.filter { $0.count <= count }.map(\.waiter))
        }
        for waiter in ready { waiter.resume() }
        return answering(request, number)
    }

    fileprivate func opened() { state.withLock { $0.openCount += 1 } }

    fileprivate func closed() {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.openCount -= 1
            guard state.openCount == 0 else { return [] }
            defer { state.closings = [] }
            return state.closings
        }
        for waiter in ready { waiter.resume() }
    }

    fileprivate func sent(_ count: Int) { state.withLock { $0.sentByteCount += count } }
}

/// One connection. It is safe to share because only the event loop uses it.
private final class Connection: ChannelHandler, @unchecked Sendable {
    private let server: HTTPServer
    private var channel: ByteChannel?
    private var head: (fields: [String], headers: [String: String])?
    private var endlessPart: [UInt8]?
    private var endlessRest = 0

    init(_ server: HTTPServer) { self.server = server }

    func opened(_ channel: ByteChannel) {
        self.channel = channel
        server.opened()
    }

    func received(_ bytes: RawSpan) -> Int {
        let received = bytes.withUnsafeBytes { Array($0) }
        var consumed = 0
        while let count = take(received[consumed...]) { consumed += count }
        return consumed
    }

    /// Answers one request if it is complete, and returns its length.
    private func take(_ bytes: ArraySlice<UInt8>) -> Int? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        let headLength = text[..<end.upperBound].utf8.count
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard words.count == 3, bytes.count >= headLength + length else { return nil }
        let body = String(decoding: bytes.dropFirst(headLength).prefix(length), as: UTF8.self)
        perform(server.answer(to: .init(method: words[0], target: words[1], headers: headers, body: body)))
        return headLength + length
    }

    private func perform(_ answer: HTTPServer.Answer) {
        switch answer {
        case .reply(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Test\r\nContent-Length: \(body.utf8.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            write(head + "\r\n" + body)
        case .bytes(let text):
            write(text)
            channel?.close()
        case .endless(let status, let partSize, let most):
            endlessPart = [UInt8](repeating: UInt8(ascii: " "), count: partSize)
            endlessRest = most
            write("HTTP/1.1 \(status) Test\r\nLocation: /elsewhere\r\n\r\n")
            writePart()
        case .silence: break
        case .close: channel?.close()
        case .reset: channel?.abort()
        }
    }

    func drained() { writePart() }

    private func writePart() {
        guard let endlessPart, let channel, channel.isOpen, endlessRest >= endlessPart.count else { return }
        endlessRest -= endlessPart.count
        server.sent(endlessPart.count)
        channel.write(endlessPart.span.bytes)
        // Otherwise `drained()` continues, so that other connections are served in between.
        if channel.pendingByteCount == 0 { channel.loop.execute { self.writePart() } }
    }

    private func write(_ text: String) { channel?.write(Array(text.utf8).span.bytes) }

    func closed(_ reason: ChannelCloseReason) {
        if channel != nil { server.closed() }
        channel = nil
    }
}
