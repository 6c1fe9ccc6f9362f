import Foundation

/// The response to an HTTP request.
struct HTTPResponse: Sendable {
    enum Body: Sendable {
        case data(Data)
        /// A body that is produced while it is sent.
        case stream(any HTTPBodyStream)
    }

    let status: UInt32
    var headers: [(name: String, value: String)]
    let body: Body

    init(status: UInt32 = 200, type: String, headers: [(name: String, value: String)] = [], body: Body) {
        self.status = status
        self.headers = [("Content-Type", type)] + headers
        self.body = body
    }

    static func text(_ text: String, status: UInt32 = 200, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(status: status, type: type, body: .data(Data(text.utf8)))
    }

    static func json(_ value: some Encodable, status: UInt32 = 200) throws -> HTTPResponse {
        HTTPResponse(status: status, type: "application/json", body: .data(try JSONEncoder().encode(value)))
    }

    /// Returns a response that browsers save as a file and do not show.
    static func download(_ name: String, type: String, _ body: Body) -> HTTPResponse {
        let disposition = "attachment; filename=\"\(name)\""
        return HTTPResponse(type: type, headers: [("Content-Disposition", disposition)], body: body)
    }
}

/// A response body that is produced while it is sent. Only the server's thread calls these methods.
protocol HTTPBodyStream: AnyObject, Sendable {
    /// Copies the next bytes into `buffer`.
    ///
    /// - Parameters:
    ///   - buffer: The destination, which has room for at least one byte.
    ///   - seat: The connection to the client. It is suspended if no bytes are available.
    /// - Returns: The number of copied bytes, or the reason why there are none.
    func read(into buffer: UnsafeMutableRawBufferPointer, _ seat: WaitingRoom.Seat) -> HTTPBodyPart

    /// Called when the client has disconnected or has received the whole body. After this call, `read` is not called
    /// any more.
    func close()
}

/// The result of one read of a body.
enum HTTPBodyPart {
    case bytes(Int)
    /// No bytes are available, and the connection waits in the ``WaitingRoom``. If `isSeated` is false, the connection
    /// does not wait: new bytes have arrived or the server stops, and the body is read again at once.
    case waiting(isSeated: Bool)
    case end
    /// The body cannot be completed. The client can detect that the end of the body is missing.
    case failed
}
