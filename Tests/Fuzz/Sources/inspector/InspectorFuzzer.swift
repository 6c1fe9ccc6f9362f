import CourierCore
import Foundation
import FuzzSupport

@testable import CourierMQTTChuck
@testable import CourierMQTTChuckWeb

/// Feeds one input to the responses of the inspector's server, or to the parser of its queries.
///
/// A request without the token, or without a host, is refused. Each response is limited, is valid JSON if its type says
/// so, and has the headers that protect the page. Only the POST request of the page clears the logger. An error of a
/// query names a column. A negated condition matches all other rows.
func check(_ input: InputReader) {
    var input = input
    if input.byte() & 1 == 0 { checkQuery(input.text()) } else { checkRequest(input) }
}

private let token = "Zq9w7Kx3Zq9w7Kx3"
private let logger = MQTTChuckLogger()
private let limits = ServerLimits()
private let room = WaitingRoom()
private let routes = InspectorRoutes(
    logger, Ticker(logger, room, limits), room, AccessRules(token: token, port: 4_321), limits, clientMetrics: { [:] },
    parkedMessages: { [:] })

/// Fills the logger with packets, if it has none.
private func fill() {
    guard logger.summary.rowCount == 0 else { return }
    let start = ContinuousClock.now
    let connection = ObservedConnection(
        id: 1, options: ConnectOptions(host: "broker", port: 1_883, clientId: "phone", username: "", password: ""),
        protocolVersion: .v5, openedAt: Date(), openedInstant: start)
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let property = [0x26, 0, 11] + Array("traceparent".utf8) + [0, 55] + Array(trace.utf8)
    let packets: [[UInt8]] = [
        [0x10, 14, 0, 4, 0x4D, 0x51, 0x54, 0x54, 5, 2, 0, 60, 0, 0, 1, 0x63], [0x20, 3, 0, 0, 0],
        [0x32, UInt8(property.count + 12), 0, 3, 0x61, 0x2F, 0x62, 0, 7, UInt8(property.count)] + property
            + Array("{\"a\"".utf8), [0x40, 3, 0, 7, 0x87], [0x82, 7, 0, 8, 0, 0, 1, 0x23, 1], [0xC0, 0], [0xF0, 1],
    ]
    for (index, packet) in packets.enumerated() {
        logger.observed(
            PacketBatch(
                direction: index.isMultiple(of: 2) ? .outgoing : .incoming, bytes: packet, time: start,
                connection: connection))
    }
}

// MARK: Queries

private func checkQuery(_ text: String) {
    fill()
    do {
        let zone = TimeZone(secondsFromGMT: 3_600) ?? .current
        let query = try MQTTChuckQuery(text, timeZone: zone)
        let found = Set(logger.rows(matching: query).rows.map(\.number))
        guard !text.contains(where: \.isWhitespace), !text.contains("\""), !text.hasPrefix("-"), !text.isEmpty else {
            return
        }
        let negated = "-" + text
        // A combining mark at the beginning would become a part of the character "-".
        guard negated.count == text.count + 1 else { return }
        let others = Set(logger.rows(matching: try MQTTChuckQuery(negated, timeZone: zone)).rows.map(\.number))
        let all = Set(logger.rows().rows.map(\.number))
        demand(
            found.isDisjoint(with: others) && found.union(others).count == all.count - (Plant.isPlanted ? 1 : 0),
            "a negated condition matches all other rows: \(text.debugDescription)")
    } catch {
        demand((1...text.count + 1).contains(error.column), "an error names a column: \(error)")
        demand(!error.message.isEmpty && !error.pointer.isEmpty, "an error has a sentence")
    }
}

// MARK: Requests

/// Reads a request of lines: the method, the path, then the headers and the URL arguments, each with `=`. A header's
/// name begins with `:`. In a path and a value, `~` stands for the token.
private func request(_ input: InputReader) -> HTTPRequest {
    var input = input
    func filled(_ text: String) -> String { text.replacing("~", with: token) }
    var request = HTTPRequest(method: input.line(), path: filled(input.line()))
    while !input.isAtEnd, request.headers.count + request.arguments.count < 32 {
        let line = input.line()
        let mark = line.firstIndex(of: "=") ?? line.endIndex
        let (name, value) = (String(line[..<mark]), filled(String(line[mark...].dropFirst())))
        if name.hasPrefix(":") {
            request.headers.append((name.dropFirst().lowercased(), value))
        } else {
            request.arguments.append((name, value))
        }
    }
    return request
}

private func checkRequest(_ input: InputReader) {
    fill()
    let request = request(input)
    let rows = logger.summary.rowCount
    let refusal = routes.refusal(of: request)
    let response = routes.answer(to: request)
    demand(
        [200, 308, 400, 403, 404, 405, 410, 503].contains(response.status), "the status is known: \(response.status)")
    let isRefused = [403, 405].contains(response.status)
    demand(refusal?.status == (isRefused ? response.status : nil), "both checks of a request agree")
    if request.path?.hasPrefix("/\(token)") != true || request.headers("host").count != 1 {
        demand(response.status == 403, "a request without the token and a host is refused")
    }
    if request.method != "POST" || request.path != "/\(token)/clear" {
        demand(logger.summary.rowCount == rows, "only the page clears the logger")
    }
    let names = Set(response.headers.map(\.name))
    demand(
        names.isSuperset(of: ["Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Cache-Control"]),
        "a response has the headers that protect the page")
    checkBody(response)
}

private func checkBody(_ response: HTTPResponse) {
    switch response.body {
    case .stream(let stream): stream.close()
    case .data(let data):
        demand(data.count <= 4 << 20, "a response is limited: \(data.count)")
        if response.headers.first?.value == "application/json" {
            demand((try? JSONSerialization.jsonObject(with: data)) != nil, "a response is JSON")
        }
    }
}
