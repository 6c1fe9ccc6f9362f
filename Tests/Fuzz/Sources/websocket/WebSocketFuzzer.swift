import FuzzSupport

@testable import CourierTransport

/// Feeds one input to a WebSocket session of a client or a server.
///
/// The first byte chooses the role, whether the input contains the handshake, and where the bytes are split in two.
/// Bytes in two pieces must give the same result as in one. The payload must lie inside the input. The answers that
/// wait for a peer that only sends must stay within their limit. The session's answers must be frames that the other
/// side can read.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    let bytes = Array(input.rest)
    let role = choice & 0x80 == 0 ? WebSocketRole.client : .server
    let handshakes = choice & 0x40 != 0
    let split = Int(choice & 0x3F) % (bytes.count + 1)

    let whole = outcome(of: [bytes], role, handshakes)
    let halves = outcome(
        of: [Array(bytes[..<split]), Array(bytes[split...].dropLast(Plant.isPlanted ? 1 : 0))], role, handshakes)
    let single = outcome(of: bytes.map { [$0] }, role, handshakes)
    guard whole == halves, whole == single else { fatalError("pieces differ: \(whole) \(halves) \(single)") }
}

private struct Outcome: Equatable {
    var isOpen = false
    var failure: String?
    var payload: [UInt8] = []
    var pongs: [[UInt8]] = []
    var end: WebSocketFrameReader.End?
}

/// A constant instead of random numbers, so that every run is the same.
private struct Zeros: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0x0123_4567_89AB_CDEF }
}

private func outcome(of pieces: [[UInt8]], _ role: WebSocketRole, _ handshakes: Bool) -> Outcome {
    var generator = Zeros()
    var configuration = WebSocketConfiguration()
    configuration.messageLimit = 4_096
    configuration.headLimit = 512
    configuration.headFieldLimit = 8
    guard let session = session(role, configuration, &generator) else { fatalError("the configuration is right") }
    _ = takeOutput(session)
    var outcome = Outcome()
    if !handshakes { outcome.isOpen = finishHandshake(session, role) }
    for piece in pieces where outcome.failure == nil {
        var input = piece
        if !outcome.isOpen {
            do {
                outcome.isOpen = try advance(session, piece)
            } catch {
                outcome.failure = "\(error)"
                continue
            }
            guard outcome.isOpen else { continue }
            input = [UInt8](repeating: 0, count: piece.count)
            let count = input.withUnsafeMutableBytes { session.takeEarlyInput(into: $0) }
            input.removeLast(input.count - count)
        }
        let payload = input.withUnsafeMutableBytes { space -> [UInt8] in
            let place = session.unwrap(space)
            guard place.lowerBound >= 0, place.upperBound <= space.count else {
                fatalError("payload outside the input")
            }
            return Array(space[place])
        }
        outcome.payload += payload
    }
    outcome.end = session.end
    if outcome.isOpen { readAnswers(session, role, &outcome) }
    return outcome
}

private func session(
    _ role: WebSocketRole, _ configuration: WebSocketConfiguration, _ generator: inout Zeros
) -> WebSocketSession? {
    switch role {
    case .client:
        try? WebSocketSession(connecting: configuration, host: "h", peerName: "server", using: &generator)
    case .server: try? WebSocketSession(accepting: configuration, peerName: "client", using: &generator)
    }
}

private func advance(_ session: WebSocketSession, _ bytes: [UInt8]) throws -> Bool {
    try bytes.withUnsafeBytes { try session.advance($0) }
}

private func takeOutput(_ session: WebSocketSession) -> [UInt8] {
    let bytes = Array(session.output)
    session.removeOutput(bytes.count)
    return bytes
}

/// Completes the handshake by feeding the other side's correct part to the session.
private func finishHandshake(_ session: WebSocketSession, _ role: WebSocketRole) -> Bool {
    var generator = Zeros()
    let key = WebSocketKey(using: &generator)
    let text =
        switch role {
        case .client:
            "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(key.accept)\r\n"
                + "Sec-WebSocket-Protocol: mqtt\r\n\r\n"
        case .server:
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \(key.text)\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
        }
    guard (try? advance(session, Array(text.utf8))) == true else { fatalError("a right handshake was refused") }
    _ = takeOutput(session)
    return true
}

/// Closes the session, and parses everything it sent, as the other side does.
private func readAnswers(_ session: WebSocketSession, _ role: WebSocketRole, _ outcome: inout Outcome) {
    var nothing = ByteQueue()
    session.wrap(&nothing, limit: .max)
    guard session.outputCount <= WebSocketSession.answerLimit + 512 else { fatalError("answers pile up") }
    guard session.beginClose(), !session.beginClose() else { fatalError("one Close frame is sent") }
    var sent = takeOutput(session)
    if let end = sent.range(of: Array("\r\n\r\n".utf8)), role == .server { sent.removeFirst(end) }
    var reader = WebSocketFrameReader(role: role == .client ? .server : .client, limits: .init(message: 0))
    var offset = 0
    var hasClosed = false
    sent.withUnsafeMutableBytes { space in
        do throws(WebSocketViolation) {
            while let event = try reader.next(in: space, at: &offset) {
                switch event {
                case .pong: outcome.pongs.append(reader.control)
                case .close: hasClosed = true
                case .payload, .ping: fatalError("we sent \(event)")
                }
            }
        } catch {
            fatalError("the other side does not understand us: \(error)")
        }
    }
    guard hasClosed else { fatalError("no Close frame was sent") }
}

extension [UInt8] {
    /// Returns the index after the first occurrence of `part`.
    fileprivate func range(of part: [UInt8]) -> Int? {
        indices.first { self[$0...].starts(with: part) }.map { $0 + part.count }
    }
}
