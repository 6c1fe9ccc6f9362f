import CourierTransport
import Foundation
import Synchronization

/// Serves the page and its data to browsers on this machine. It has two addresses, and uses the transport's own
/// channels.
///
/// It implements only the part of HTTP that the page needs. It listens only on 127.0.0.1, and refuses requests for
/// another host name, so that pages from other sites cannot read the data.
final class PageServer: Sendable {
    /// The maximum number of connections. Further connections are closed.
    static let connectionLimit = 16
    /// The maximum size of a request in bytes.
    static let requestLimit = 8 << 10

    let port: UInt16
    private let loop: EventLoop
    private let listener: ChannelListener
    private let room: Room

    /// Listens on a port of 127.0.0.1. Port 0 selects a free port.
    init(port: UInt16) throws {
        loop = try EventLoop(name: "page")
        room = Room()
        listener = try ChannelListener.listen(on: .tcp(port: port), loop: loop) { [room] channel in
            PageConnection(channel, room)
        }
        self.port = listener.port
    }

    var url: String { "http://127.0.0.1:\(port)/" }

    /// True if at least one browser shows the page.
    var isWatched: Bool { room.watcherCount.load(ordering: .relaxed) > 0 }

    /// Sends a picture to all browsers that show the page. A browser that has not read the earlier pictures is skipped.
    func show(_ json: String) {
        let event = Array("data: \(json)\n\n".utf8)
        loop.execute { [room] in room.show(event) }
    }

    func stop() async {
        listener.close()
        await loop.shutdown()
    }
}

/// The connections of a server.
///
/// Safe to share: `connections` is used only on the event loop; the count is atomic.
private final class Room: @unchecked Sendable {
    var connections: [ObjectIdentifier: PageConnection] = [:]
    let watcherCount = Atomic(0)

    func show(_ event: [UInt8]) {
        for connection in connections.values { connection.show(event) }
    }
}

/// One connection from a browser.
///
/// Safe to share: all mutable state is used only on the event loop, where the channel calls this handler.
private final class PageConnection: ChannelHandler, @unchecked Sendable {
    private let channel: ByteChannel
    private let room: Room
    private var isWatching = false

    init(_ channel: ByteChannel, _ room: Room) {
        self.channel = channel
        self.room = room
    }

    func opened(_ channel: ByteChannel) {
        guard room.connections.count < PageServer.connectionLimit else { return channel.abort() }
        room.connections[ObjectIdentifier(self)] = self
    }

    func received(_ bytes: RawSpan) -> Int {
        guard !isWatching else { return bytes.byteCount }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        guard let end = text.range(of: "\r\n\r\n") else {
            if bytes.byteCount > PageServer.requestLimit { refuse("431 Request Header Fields Too Large") }
            return 0
        }
        answer(text[..<end.lowerBound].components(separatedBy: "\r\n"))
        return bytes.byteCount
    }

    func closed(_ reason: ChannelCloseReason) {
        guard room.connections.removeValue(forKey: ObjectIdentifier(self)) != nil, isWatching else { return }
        room.watcherCount.subtract(1, ordering: .relaxed)
    }

    func show(_ event: [UInt8]) {
        if isWatching, !channel.isAboveHighWater { channel.write(event.span.bytes) }
    }

    private func answer(_ lines: [String]) {
        let request = lines[0].split(separator: " ")
        let host = lines.dropFirst().first { $0.lowercased().hasPrefix("host:") }?.dropFirst("host:".count)
            .trimmingCharacters(in: .whitespaces).split(separator: ":").first
        guard host == "127.0.0.1" || host == "localhost" else { return refuse("403 Forbidden") }
        guard request.count == 3, request[0] == "GET" else { return refuse("405 Method Not Allowed") }
        switch request[1] {
        case "/":
            send(
                "200 OK", "text/html; charset=utf-8", PackageResources.page_html,
                "Content-Security-Policy: default-src 'self'; img-src data:; script-src 'unsafe-inline'; "
                    + "style-src 'unsafe-inline'")
            channel.close()
        case "/vehicles":
            send("200 OK", "text/event-stream", nil)
            isWatching = true
            room.watcherCount.add(1, ordering: .relaxed)
        default: refuse("404 Not Found")
        }
    }

    private func refuse(_ status: String) {
        send(status, "text/plain", Array((status + "\n").utf8))
        channel.close()
    }

    /// Sends a response. Without a body, the response continues until the connection ends.
    private func send(_ status: String, _ type: String, _ body: [UInt8]?, _ fields: String...) {
        var head = ["HTTP/1.1 \(status)", "Content-Type: \(type)", "Cache-Control: no-store", "Connection: close"]
        if let body { head.append("Content-Length: \(body.count)") }
        head += fields + ["X-Content-Type-Options: nosniff"]
        let answer = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
        channel.write(answer.span.bytes)
    }
}
