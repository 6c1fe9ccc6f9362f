import CourierCore
import CourierMQTTChuck
import Foundation
import Synchronization

/// Responds to the requests that ``AccessRules`` allows, and refuses all other requests.
final class InspectorRoutes: Sendable {
    private let logger: MQTTChuckLogger
    private let ticker: Ticker
    private let room: WaitingRoom
    private let limits: ServerLimits
    private let rules: AccessRules
    /// Returns the metrics of clients by the clients' names.
    private let clientMetrics: @Sendable () -> [String: ClientMetrics]
    private let parked: ParkedRoutes
    private let exportCount = Mutex(0)

    init(
        _ logger: MQTTChuckLogger, _ ticker: Ticker, _ room: WaitingRoom, _ rules: AccessRules, _ limits: ServerLimits,
        clientMetrics: @escaping @Sendable () -> [String: ClientMetrics],
        parkedMessages: @escaping @Sendable () -> [String: any ParkedMessages]
    ) {
        self.clientMetrics = clientMetrics
        parked = ParkedRoutes(clients: parkedMessages, room: room)
        self.logger = logger
        self.ticker = ticker
        self.room = room
        self.rules = rules
        self.limits = limits
    }

    /// Returns the response that refuses a request before its body is read, or `nil` if the request is allowed.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        do throws(AccessRules.Refusal) {
            _ = try rules.destination(of: request)
            return nil
        } catch {
            return secured(Self.refusal(error))
        }
    }

    /// Returns the response to a request. For a refused request, it is a response with the refusal.
    func answer(to request: HTTPRequest) -> HTTPResponse {
        do throws(AccessRules.Refusal) {
            guard let path = try rules.destination(of: request) else {
                return secured(
                    HTTPResponse(
                        status: 308, type: "text/plain", headers: [("Location", "/\(rules.token)/")],
                        body: .data(Data())))
            }
            return secured(answer(request, at: path))
        } catch {
            return secured(Self.refusal(error))
        }
    }

    private func answer(_ request: HTTPRequest, at path: String) -> HTTPResponse {
        do {
            if let file = PageFile.all[path] {
                return HTTPResponse(type: file.type, body: .data(file.data))
            }
            switch path {
            case "about":
                return try .json(AboutJSON(rowLimit: limits.rows, maximumRows: logger.options.logsMaxSize))
            case "check": return try .json(QueryCheckJSON(error: queryError(request)))
            case "events": return events()
            case "history": return try .json(ticker.history)
            case "rows": return try rows(request)
            case "connections":
                return try .json(logger.connections.suffix(limits.listedConnections).map(ConnectionJSON.init))
            case "metrics":
                let text = logger.metrics.prometheusText + ClientMetrics.prometheusText(of: clientMetrics())
                return .text(text, type: "text/plain; version=0.0.4; charset=utf-8")
            case "clear":
                logger.clear()
                return .text("cleared")
            default:
                if let response = parked.answer(request, at: path) { return response }
                return try answer(request, atParts: path.split(separator: "/", omittingEmptySubsequences: false))
            }
        } catch let error as QueryFailure {
            return (try? .json(error.json, status: 400)) ?? .text("The query cannot be read.", status: 400)
        } catch {
            return .text("The answer could not be written as JSON.", status: 500)
        }
    }

    private func answer(_ request: HTTPRequest, atParts parts: [Substring]) throws -> HTTPResponse {
        let format = MQTTChuckExportFormat.allCases.first { ["export.\($0.fileExtension)"] == parts }
        if let format { return try export(format, request) }
        guard parts.first == "row", 2...3 ~= parts.count, let number = UInt64(parts[1]) else { return Self.nothing }
        guard let details = logger.details(of: number) else {
            return .text("Packet \(number) is not kept any more.", status: 410)
        }
        switch parts.dropFirst(2).first {
        case nil: return try .json(DetailsJSON(details, limits))
        case "packet.bin":
            return .download(
                "packet-\(number).bin", type: "application/octet-stream", .data(Data(details.bytes)))
        case "payload.bin":
            return .download(
                "payload-\(number).bin", type: "application/octet-stream",
                .data(Data(details.bytes[details.payload])))
        default: return Self.nothing
        }
    }

    // MARK: Rows

    private struct QueryFailure: Error { let json: QueryErrorJSON }

    private func query(_ request: HTTPRequest) throws -> MQTTChuckQuery {
        guard !request.unreadableArguments.contains("query") else {
            throw QueryFailure(json: QueryErrorJSON(column: 1, message: "a query must be UTF-8"))
        }
        let text = request.argument("query") ?? ""
        guard text.utf8.count <= limits.query else {
            throw QueryFailure(
                json: QueryErrorJSON(column: 1, message: "a query may have at most \(limits.query) bytes"))
        }
        do throws(MQTTChuckQueryError) {
            return try MQTTChuckQuery(text)
        } catch {
            throw QueryFailure(json: QueryErrorJSON(column: error.column, message: error.message))
        }
    }

    private func queryError(_ request: HTTPRequest) -> QueryErrorJSON? {
        do {
            _ = try query(request)
            return nil
        } catch {
            return (error as? QueryFailure)?.json
        }
    }

    private func rows(_ request: HTTPRequest) throws -> HTTPResponse {
        let query = try query(request)
        let limit = min(max(1, request.argument("limit").flatMap(Int.init) ?? limits.rows), limits.rows)
        if let before = request.argument("before") {
            let page = logger.rows(
                before: UInt64(before) ?? .max, matching: query, limit: limit, scanLimit: limits.scannedRows)
            return try .json(PageJSON(page))
        }
        let from = request.argument("from").flatMap(UInt64.init) ?? 0
        let page = logger.rows(from: from, matching: query, limit: limit, scanLimit: limits.scannedRows)
        let again = logger.firstRow(endedBy: from..<max(from, page.next), for: query)
        return try .json(PageJSON(page, again: again))
    }

    // MARK: Streams

    private func events() -> HTTPResponse {
        guard let stream = ticker.stream() else { return Self.busy }
        return HTTPResponse(type: "text/event-stream", body: .stream(stream))
    }

    private func export(_ format: MQTTChuckExportFormat, _ request: HTTPRequest) throws -> HTTPResponse {
        let query = try query(request)
        let isFree = exportCount.withLock { count in
            guard count < limits.exports else { return false }
            count += 1
            return true
        }
        guard isFree else { return Self.busy }
        let stream = ExportStream(ahead: limits.exportAhead, room) { [weak self] in
            self?.exportCount.withLock { $0 -= 1 }
        }
        stream.start(logger, format, query)
        return .download("mqtt-session.\(format.fileExtension)", type: format.contentType, .stream(stream))
    }

    // MARK: Fixed responses

    private static let nothing = HTTPResponse.text("This page does not exist.", status: 404)
    private static let busy = HTTPResponse.text("Too many requests at the same time; try again later.", status: 503)

    private static func refusal(_ refusal: AccessRules.Refusal) -> HTTPResponse {
        switch refusal {
        case .foreignHost: .text("This server answers only at 127.0.0.1 and localhost.", status: 403)
        case .foreignOrigin: .text("This server answers only requests of its own page.", status: 403)
        case .noToken:
            .text(
                "Open the complete address that the program has printed, including the token at its end.", status: 403)
        case .badMethod: .text("This method is not allowed.", status: 405)
        case .noProof: .text("Only the inspector's page may send this request.", status: 403)
        }
    }

    /// Adds headers that tell the browser to load only files of this page and to store nothing.
    private func secured(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers += [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                    + "trusted-types 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ]
        return response
    }
}
