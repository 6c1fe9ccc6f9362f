import CourierCore
import Foundation

/// Lists, retries and removes the parked messages of clients.
struct ParkedRoutes: Sendable {
    /// Returns the parked messages of clients by the clients' names.
    let clients: @Sendable () -> [String: any ParkedMessages]
    let room: WaitingRoom

    /// Returns the response to a request whose path begins with `parked`; `nil` if no response belongs to this path.
    func answer(_ request: HTTPRequest, at path: String) -> HTTPResponse? {
        switch path {
        case "parked": later { await list() }
        case "parked/retry": change(request) { try await $0.retry($1) }
        case "parked/remove": change(request) { try await $0.remove($1) }
        default: nil
        }
    }

    private func list() async -> ParkedListJSON {
        var list = ParkedListJSON()
        for (name, parked) in clients().sorted(by: { $0.key < $1.key }) {
            do {
                let page = try await parked.messages(of: nil, after: nil, limit: ParkedListJSON.limit)
                list.messages += page.map { ParkedJSON($0, of: name) }
            } catch {
                list.error = CourierError.summary(of: error)
            }
        }
        return list
    }

    private func change(
        _ request: HTTPRequest, _ body: @escaping @Sendable (any ParkedMessages, StoredMessage.ID) async throws -> Bool
    ) -> HTTPResponse {
        guard let name = request.argument("client"), let parked = clients()[name],
            let number = request.argument("id").flatMap(UInt64.init)
        else { return .text("The request names no client or no message.", status: 400) }
        return later {
            do {
                return ParkedChangeJSON(isDone: try await body(parked, StoredMessage.ID(rawValue: number)))
            } catch {
                return ParkedChangeJSON(error: CourierError.summary(of: error))
            }
        }
    }

    private func later(_ produce: @escaping @Sendable () async -> some Encodable & Sendable) -> HTTPResponse {
        let answer = LaterAnswer(room)
        answer.start { (try? JSONEncoder().encode(await produce())) ?? Data("{}".utf8) }
        return HTTPResponse(type: "application/json", body: .stream(answer))
    }
}
