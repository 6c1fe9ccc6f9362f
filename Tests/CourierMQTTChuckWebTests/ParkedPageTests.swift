import CourierCore
import CourierMQTTChuck
import Foundation
import Testing

@testable import CourierMQTTChuckWeb

/// The inspector's list of parked messages.
@Suite(.timeLimit(.minutes(2))) struct ParkedPageTests {
    private static let proof = ["X-Courier-Inspector: yes"]

    private struct List: Decodable {
        struct Entry: Decodable, Equatable {
            let client: String
            let id: UInt64
            let processor: String
            let topic: String
            let attempts: Int
            let reason: String
        }

        let messages: [Entry]
        let error: String?
    }

    private static func list(_ page: PageFixture) async throws -> List {
        try JSONDecoder().decode(List.self, from: Data(try await page.request("parked").text.utf8))
    }

    @Test func `the page lists the parked messages of two clients with client, topic and reason`()
        async throws
    {
        let page = try PageFixture(parkedMessages: {
            ["orders": ParkedList([7, 9]), "bills": ParkedList([3])]
        })
        let list = try await Self.list(page)
        #expect(list.messages.map(\.client) == ["bills", "orders", "orders"])
        #expect(list.messages.map(\.id) == [3, 7, 9])
        #expect(list.messages[0].reason == "The printer is empty.")
        #expect(list.messages[0].topic == "orders/3")
        #expect(list.error == nil)
    }

    @Test func `only requests of the page itself can retry or remove a parked message`() async throws {
        let parked = ParkedList([7, 9])
        let page = try PageFixture(parkedMessages: { ["orders": parked] })
        let retry = "parked/retry?client=orders&id=7"
        #expect(try await page.request(retry).status == 405)
        #expect(try await page.request(retry, method: "POST").status == 403)
        let reply = try await page.request(retry, method: "POST", headers: Self.proof)
        #expect(reply.text == #"{"isDone":true}"#)
        let again = try await page.request(retry, method: "POST", headers: Self.proof)
        #expect(again.text == #"{"isDone":false}"#)
        let remove = "parked/remove?client=orders&id=9"
        #expect(try await page.request(remove, method: "POST", headers: Self.proof).text == #"{"isDone":true}"#)
        #expect(try await Self.list(page).messages.isEmpty)
        #expect(await parked.retried == [7])
        let unknown = "parked/retry?client=nobody&id=7"
        #expect(try await page.request(unknown, method: "POST", headers: Self.proof).status == 400)
    }

    @Test func `if a store cannot be read, the list of parked messages contains the error`() async throws {
        let page = try PageFixture(parkedMessages: { ["orders": ParkedList([], isBroken: true)] })
        let list = try await Self.list(page)
        #expect(list.messages.isEmpty)
        #expect(list.error?.contains("The disk is broken.") == true)
    }
}

/// A list of parked messages in memory.
private actor ParkedList: ParkedMessages {
    private var ids: [UInt64]
    private let isBroken: Bool
    private(set) var retried: [UInt64] = []

    init(_ ids: [UInt64], isBroken: Bool = false) {
        self.ids = ids
        self.isBroken = isBroken
    }

    func messages(of processor: String?, after id: StoredMessage.ID?, limit: Int) async throws -> [ParkedMessage] {
        if isBroken { throw CourierError(.storeFailed, "The disk is broken.") }
        return ids.map { id in
            ParkedMessage(
                id: StoredMessage.ID(rawValue: id), processor: "orders/#",
                message: Message(data: Data("7".utf8), topic: "orders/\(id)", qos: .one), attempts: 5,
                reason: "The printer is empty.", firstReceived: Date(), parkedAt: Date())
        }
    }

    func retry(_ id: StoredMessage.ID) async throws -> Bool {
        guard take(id) else { return false }
        retried.append(id.rawValue)
        return true
    }

    func remove(_ id: StoredMessage.ID) async throws -> Bool { take(id) }

    private func take(_ id: StoredMessage.ID) -> Bool {
        guard let index = ids.firstIndex(of: id.rawValue) else { return false }
        ids.remove(at: index)
        return true
    }
}
