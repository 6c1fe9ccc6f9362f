import CMicroHTTPD
import CourierCore
import Foundation
import Synchronization

/// An HTTP server on the loopback interface, based on libmicrohttpd. One thread serves all connections.
final class HTTPServer: Sendable {
    /// Returns the response to a request. Runs on the server's thread.
    typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse
    /// Checks a request before its body is read. Returns the response that refuses it, or `nil` to accept it.
    typealias Guardian = @Sendable (HTTPRequest) -> HTTPResponse?

    /// Safe to share between threads: the pointer never changes, and only `stop()` uses it, once.
    private struct Daemon: @unchecked Sendable { let pointer: OpaquePointer }

    private let daemon: Daemon
    private let context: ServerContext
    private let isStopped = Mutex(false)

    /// The port that the server listens on.
    let port: UInt16

    /// Starts to listen. Requests are refused until ``open(guardian:handler:)`` is called.
    init(port: UInt16, limits: ServerLimits, room: WaitingRoom) throws(CourierError) {
        let context = ServerContext(limits, room)
        let started = courier_http_start(
            port,
            courier_http_limits(
                connections: limits.connections, timeout_seconds: limits.idleTimeout,
                connection_memory: limits.connectionMemory),
            { context, connection, path, method, _, _, uploadSize, exchange in
                ServerContext.answer(context, connection, path, method, uploadSize, exchange)
            },
            { _, _, exchange, _ in
                guard let pointer = exchange?.pointee else { return }
                Unmanaged<HTTPExchange>.fromOpaque(pointer).release()
                exchange?.pointee = nil
            }, Unmanaged.passUnretained(context).toOpaque())
        guard let started else {
            throw CourierError(
                .invalidConfiguration,
                "The inspector's page cannot listen on port \(port) of 127.0.0.1: another program may use this port. "
                    + "Use port 0 for a free port.")
        }
        daemon = Daemon(pointer: started)
        self.context = context
        self.port = courier_http_port(started)
    }

    deinit { stop() }

    /// Starts to respond to requests. Requests before this call are refused.
    func open(guardian: @escaping Guardian, handler: @escaping Handler) {
        context.answers.withLock { $0 = ServerContext.Answers(guardian: guardian, handler: handler) }
    }

    /// Ends all connections and frees the port. Returns after the server's thread has ended, so the server's thread
    /// must not call this method.
    func stop() {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if wasStopped { return }
        context.room.close()
        // This call waits until the server's thread has ended. After that, no callback of libmicrohttpd uses the
        // context.
        MHD_stop_daemon(daemon.pointer)
        context.answers.withLock { $0 = nil }
    }
}

/// The data that the library's callbacks use. The server owns it until the server's thread has ended.
private final class ServerContext: Sendable {
    struct Answers: Sendable {
        let guardian: HTTPServer.Guardian
        let handler: HTTPServer.Handler
    }

    let limits: ServerLimits
    let room: WaitingRoom
    let answers = Mutex<Answers?>(nil)

    init(_ limits: ServerLimits, _ room: WaitingRoom) {
        self.limits = limits
        self.room = room
    }

    /// Called by the library with the head of a request, then with each part of its body, and then at the end of the
    /// request.
    static func answer(
        _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
        _ method: UnsafePointer<CChar>?, _ uploadSize: UnsafeMutablePointer<Int>?,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let context, let connection, let path, let method, let uploadSize, let slot else { return .NO }
        let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
        guard let answers = server.answers.withLock({ $0 }) else { return .NO }
        guard let pointer = slot.pointee else {
            let exchange = HTTPExchange(HTTPRequest(connection, path, method))
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            guard let refusal = answers.guardian(exchange.request) else { return .YES }
            return server.send(refusal, on: connection)
        }
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
        if uploadSize.pointee > 0 {
            exchange.bodySize += uploadSize.pointee
            uploadSize.pointee = 0
            // If the body is too large, the connection is closed without a response.
            return exchange.bodySize <= server.limits.requestBody ? .YES : .NO
        }
        return server.send(answers.handler(exchange.request), on: connection)
    }

    private func send(_ answer: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        guard let response = response(answer.body, connection) else { return .NO }
        defer { MHD_destroy_response(response) }  // Releases this reference; the connection keeps its own.
        for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
        return MHD_queue_response(connection, answer.status, response)
    }

    private func response(_ body: HTTPResponse.Body, _ connection: OpaquePointer) -> OpaquePointer? {
        switch body {
        case .data(let data):
            return data.withUnsafeBytes { bytes in
                // libmicrohttpd copies the bytes and never writes to them, although the parameter type allows writing.
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .stream(let stream):
            let reading = Unmanaged.passRetained(BodyReading(stream, room, WaitingRoom.Seat(connection)))
            let response = MHD_create_response_from_callback(
                .max,  // The size of the response is unknown.
                16 * 1024,
                { reading, _, buffer, size in
                    guard let reading, let buffer, size > 0 else { return courier_http_failed }
                    return Unmanaged<BodyReading>.fromOpaque(reading).takeUnretainedValue()
                        .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
                }, reading.toOpaque(),
                { reading in
                    guard let reading else { return }
                    Unmanaged<BodyReading>.fromOpaque(reading).takeRetainedValue().stream.close()
                })
            if response == nil { reading.takeRetainedValue().stream.close() }
            return response
        }
    }
}

/// One request that is being read.
///
/// Only the server's thread uses it.
private final class HTTPExchange {
    let request: HTTPRequest
    var bodySize = 0

    init(_ request: HTTPRequest) { self.request = request }
}

/// A response body that is being sent to one connection.
private final class BodyReading {
    let stream: any HTTPBodyStream
    private let room: WaitingRoom
    private let seat: WaitingRoom.Seat

    init(_ stream: any HTTPBodyStream, _ room: WaitingRoom, _ seat: WaitingRoom.Seat) {
        self.stream = stream
        self.room = room
        self.seat = seat
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while !room.isClosed {
            switch stream.read(into: buffer, seat) {
            case .bytes(let count): return count
            case .waiting(let isSeated): if isSeated { return 0 }
            case .end: return courier_http_end
            case .failed: return courier_http_failed
            }
        }
        return courier_http_failed
    }
}

extension HTTPRequest {
    /// Headers or URL arguments. An entry is left out if its name is not UTF-8, because no route uses such names.
    private struct Values {
        var readable: [(name: String, value: String)] = []
        /// The names of the headers or URL arguments whose values are not UTF-8.
        var unreadable: [String] = []
    }

    fileprivate init(_ connection: OpaquePointer, _ path: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>) {
        let arguments = Self.values(connection, .GET_ARGUMENT_KIND)
        self.init(
            method: String(cString: method), path: String(validatingCString: path),
            headers: Self.values(connection, .HEADER_KIND).readable.map { ($0.name.lowercased(), $0.value) },
            arguments: arguments.readable, unreadableArguments: arguments.unreadable)
    }

    private static func values(_ connection: OpaquePointer, _ kind: MHD_ValueKind) -> Values {
        var values = Values()
        withUnsafeMutablePointer(to: &values) { values in
            _ = MHD_get_connection_values_n(
                connection, kind,
                { values, _, name, nameSize, value, valueSize in
                    guard let values, let name = Self.text(name, nameSize) else { return .YES }
                    let list = values.assumingMemoryBound(to: Values.self)
                    if let value = Self.text(value, valueSize) {
                        list.pointee.readable.append((name, value))
                    } else {
                        list.pointee.unreadable.append(name)
                    }
                    return .YES
                }, values)
        }
        return values
    }

    /// Returns the bytes as text; `nil` if they are not UTF-8. The page itself sends only UTF-8.
    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String? {
        guard let bytes else { return "" }
        return String(validating: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
