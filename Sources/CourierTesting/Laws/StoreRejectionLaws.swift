import CourierCore
import Foundation

/// The laws about rejected messages. The client rejects a message after the broker ended connections because of it.
enum StoreRejectionLaws {
    static func strikesAreKept(_ probe: StoreProbe) async throws {
        func check(_ expected: [Int], _ when: String) async throws {
            try require(
                "the counts of ended connections (`strikes`) after \(when)", try await probe.outgoing().map(\.strikes),
                is: expected)
        }
        try await probe.commit(
            .enqueue(StoreProbe.message(1)), .strike(StoreProbe.id(1), count: 1), .enqueue(StoreProbe.message(2)),
            .enqueue(StoreProbe.message(3)))
        try await check([1, 0, 0], "the batch with the new messages")
        try await probe.commit(.strike(StoreProbe.id(2), count: 3), .strike(StoreProbe.id(9), count: 1))
        try await check([1, 3, 0], "a change of the count of ended connections of another message")
        try await probe.commit(
            .progress(StoreProbe.id(2), .sent(packetID: 4)), .strike(StoreProbe.id(1), count: 2),
            .progress(StoreProbe.id(1), .sent(packetID: 5)))
        try await check([2, 3, 0], "a change of the progress")
        try await probe.commit(.strike(StoreProbe.id(2), count: 0))
        try await check([2, 0, 0], "a change of the count of ended connections to 0")
        try await probe.commit(.removeOutgoing(StoreProbe.id(1)), .enqueue(StoreProbe.message(1)))
        try await check([0, 0, 0], "a new message with the id of a removed message")
    }

    static func rejectedAreKept(_ probe: StoreProbe) async throws {
        let messages = (1...5).map { StoreProbe.message($0, qos: .two) }
        try await probe.commit(messages.map { .enqueue($0) })
        try await probe.commit(
            .progress(StoreProbe.id(4), .sent(packetID: 7)), .strike(StoreProbe.id(4), count: 3),
            .reject(StoreProbe.id(4), reason: "each delivery ended the connection", at: StoreProbe.moment))
        try await probe.commit(
            .reject(StoreProbe.id(2), reason: "", at: StoreProbe.moment + 1),
            .reject(StoreProbe.id(9), reason: "no such message", at: StoreProbe.moment))
        let expected = [
            RejectedMessage(StoredOutgoing(messages[1], .queued), reason: "", rejectedAt: StoreProbe.moment + 1),
            RejectedMessage(
                StoredOutgoing(messages[3], .sent(packetID: 7), strikes: 3),
                reason: "each delivery ended the connection",
                rejectedAt: StoreProbe.moment),
        ]
        try require("outgoing messages after rejections", try await probe.outgoingIDs(), is: [1, 3, 5])
        try require("the count of outgoing messages", try await probe.summary().outgoingCount, is: 3)
        try require("the sent messages", try await probe.sentIDs(), is: [])
        try require("the rejected messages", try await probe.rejected(), is: expected)
        try require("the first rejected message", try await probe.rejected(limit: 1), is: [expected[0]])
        try require("the rejected messages after id 2", try await probe.rejected(after: 2), is: [expected[1]])
        try require("the rejected messages after the last id", try await probe.rejected(after: 4), is: [])
        try require("a page of rejected messages with the limit 0", try await probe.rejected(limit: 0), is: [])
        let other = probe.inScope(clientID: "other", broker: "broker:1")
        try await other.commit(.removeRejected(StoreProbe.id(2)), .removeAll)
        try require("the rejected messages of another scope", try await other.rejected(), is: [])

        try await probe.commit(.removeRejected(StoreProbe.id(2)), .removeRejected(StoreProbe.id(1)))
        try require("the rejected messages that remain", try await probe.rejected(), is: [expected[1]])
        try await probe.commit(
            .enqueue(StoreProbe.message(6)), .reject(StoreProbe.id(6), reason: "", at: StoreProbe.moment))
        try require(
            "the count of rejected messages after a batch that adds and rejects a message",
            try await probe.rejected().count, is: 2)
        try await probe.commit(.removeAll)
        try require("the rejected messages after removeAll", try await probe.rejected(), is: [])
    }
}
