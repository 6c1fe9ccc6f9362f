import FuzzSupport

@testable import CourierTransport

/// Feeds one input to the reader of HTTP heads, or to the exchange with an HTTP proxy.
///
/// The first byte chooses the parser and the limits. Bytes in pieces must give the same result as all bytes at once. A
/// head is complete at its last byte and not before. A head that is written again must be read as the same head. An
/// error must not contain the password of the proxy.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    let bytes = Array(input.rest)
    if choice & 0x80 != 0 {
        checkConnect(bytes, hasCredentials: choice & 1 != 0)
    } else {
        checkHead(bytes, limit: [64, 512, 16 << 10][Int(choice) % 3], split: Int(choice))
    }
}

// MARK: Heads

private struct Outcome: Equatable {
    var taken = 0
    var head: HTTPHead?
    var problem: HTTPHead.Problem?
}

private let fieldLimit = 8

private func outcome(of pieces: [ArraySlice<UInt8>], limit: Int, beginning: String = "") -> Outcome {
    var reader = HTTPHeadReader(beginning: beginning, limit: limit, fieldLimit: fieldLimit)
    var outcome = Outcome()
    for piece in pieces {
        do throws(HTTPHead.Problem) {
            let (taken, head) = try piece.span.bytes.withUnsafeBytes { bytes throws(HTTPHead.Problem) in
                try reader.read(bytes)
            }
            outcome.taken += taken
            outcome.head = head
        } catch {
            outcome.problem = error
            outcome.taken = 0
        }
        if outcome.head != nil || outcome.problem != nil { break }
    }
    return outcome
}

private func checkHead(_ bytes: [UInt8], limit: Int, split: Int) {
    let whole = outcome(of: [bytes[...]], limit: limit)
    let split = split % (bytes.count + 1)
    let halves = outcome(of: [bytes[..<split], bytes[split...].dropLast(Plant.isPlanted ? 1 : 0)], limit: limit)
    let single = outcome(of: bytes.indices.map { bytes[$0...$0] }, limit: limit)
    demand(whole == halves, "two pieces give the same result: \(whole) \(halves)")
    demand(whole == single, "single bytes give the same result: \(whole) \(single)")
    guard let head = whole.head else {
        demand(whole.problem != nil || whole.taken == bytes.count, "an incomplete head has taken all bytes")
        return
    }
    demand(whole.taken <= limit, "a head is within its limit")
    demand(head.fields.count <= fieldLimit, "the number of fields is within its limit")
    demand(bytes[..<whole.taken].suffix(4).elementsEqual("\r\n\r\n".utf8), "a head ends with an empty line")
    demand(head.status.map { (100...599).contains($0) } ?? true, "a status has three digits")
    checkFields(head, bytes[..<whole.taken])
    let written = head.startLine + head.fields.map { "\r\n\($0.name):\($0.value)" }.joined() + "\r\n\r\n"
    let again = outcome(of: [Array(written.utf8)[...]], limit: .max, beginning: String(head.startLine.prefix(1)))
    demand(again.head == head, "a written head is read as the same head: \(head) \(again)")
}

/// Compares the values of the fields with a simple reference: the bytes after the first colon of each line, without
/// spaces and tabs at both ends.
private func checkFields(_ head: HTTPHead, _ bytes: ArraySlice<UInt8>) {
    let lines = bytes.dropLast(4).split(separator: UInt8(ascii: "\r"), omittingEmptySubsequences: false)
    demand(lines.count == head.fields.count + 1, "each line is a field")
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    for (line, field) in zip(lines.dropFirst(), head.fields) {
        let value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst().drop(while: blanks.contains)
        let end = value.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? value.startIndex
        demand(field.value.utf8.elementsEqual(value[..<end]), "a value has the bytes of its line: \(field)")
        let shown = HTTPHead.shown(field.value, limit: 20)
        demand(shown.unicodeScalars.count <= 21, "a shown text is short")
        demand(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control }, "controls are not shown")
    }
}

// MARK: HTTP proxies

private func checkConnect(_ bytes: [UInt8], hasCredentials: Bool) {
    let large = connect(bytes, hasCredentials, step: .max)
    let small = connect(bytes, hasCredentials, step: 1)
    demand(large == small, "the sizes of the reads do not matter: \(large) \(small)")
    if large.isDone {
        demand(bytes[..<large.taken].suffix(4).elementsEqual("\r\n\r\n".utf8), "no byte of the target is read")
    }
}

private struct ConnectOutcome: Equatable {
    var taken = 0
    var isDone = false
    var error: TransportError?
}

private func connect(_ bytes: [UInt8], _ hasCredentials: Bool, step: Int) -> ConnectOutcome {
    let credentials = hasCredentials ? ProxyCredentials(user: "ada", password: Secret.text) : nil
    guard let proxy = try? ProxyConfiguration(.http, host: "proxy", port: 3_128, credentials: credentials),
        let target = try? ProxyTarget(host: "broker.example", port: 1_883)
    else { fatalError("the configuration is right") }
    var handshake = HTTPConnectHandshake(ProxyRoute(proxy, target), credentials: credentials)
    demand(!handshake.begin().isEmpty, "the handshake begins with a request")
    var outcome = ConnectOutcome()
    while outcome.taken < bytes.count {
        demand((1...4).contains(handshake.wantedCount), "a running handshake reads 1 to 4 bytes")
        let piece = Array(bytes[outcome.taken...].prefix(min(step, handshake.wantedCount)))
        do {
            let action = try handshake.received(piece.span)
            outcome.taken += piece.count
            if action == .done {
                demand(handshake.wantedCount == 0, "a complete handshake reads no more bytes")
                outcome.isDone = true
                return outcome
            }
        } catch {
            outcome.error = error
            outcome.taken = 0
            demand(error.message.hasPrefix("the proxy http://proxy:3128 "), "an error names the proxy: \(error)")
            Secret.demandAbsent(in: error.message)
            return outcome
        }
    }
    demand(outcome.taken <= (HTTPHead.interimLimit + 1) * HTTPConnectHandshake.headLimit, "the responses are limited")
    Secret.demandAbsent(in: handshake.closedError.message + handshake.progress)
    return outcome
}
