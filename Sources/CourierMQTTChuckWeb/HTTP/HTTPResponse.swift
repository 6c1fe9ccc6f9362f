import Foundation

/// What a request is answered with.
struct HTTPResponse: Sendable {
    enum Body: Sendable {
        case data(Data)
        /// Made while it is sent.
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

    /// Something to keep as a file, which no browser opens in place.
    static func download(_ name: String, type: String, _ body: Body) -> HTTPResponse {
        let disposition = "attachment; filename=\"\(name)\""
        return HTTPResponse(type: type, headers: [("Content-Disposition", disposition)], body: body)
    }
}

/// A body that is made while it is sent. Only the server's thread calls it.
protocol HTTPBodyStream: AnyObject, Sendable {
    /// Puts the next bytes into `buffer`.
    ///
    /// - Parameters:
    ///   - buffer: Where to; at least one byte.
    ///   - seat: Where to wait when there is nothing yet.
    /// - Returns: How many bytes came, or why none did.
    func read(into buffer: UnsafeMutableRawBufferPointer, _ seat: WaitingRoom.Seat) -> HTTPBodyPart

    /// The client is gone or has all; nothing is read any more.
    func close()
}

/// What a read of a body brings.
enum HTTPBodyPart {
    case bytes(Int)
    /// There is nothing yet, and the connection waits in the ``WaitingRoom``; where it found no seat, because something
    /// has come meanwhile or the server stops, it is asked again at once.
    case waiting(isSeated: Bool)
    case end
    /// The body stays incomplete, and the client learns it.
    case failed
}
