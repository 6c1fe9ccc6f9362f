import CourierCore
import Foundation
import Testing

@testable import CourierMQTT

@Suite struct KeptMessagesTests {
    private static func message(_ topic: String, payload: Int = 0, properties: Int = 0) -> ReceivedMessage {
        let page = MessagePage(
            Data(repeating: 1, count: payload), topic: topic, qos: .one, packetID: nil, isRetained: false,
            isDuplicate: false, encodedProperties: [UInt8](repeating: 2, count: properties), decode: { _ in .empty })
        return ReceivedMessage(page: page, index: 0, ticket: nil)
    }

    private static let now = ContinuousClock.now

    @Test(arguments: [
        message("t", payload: 1_000), message("t", properties: 1_000), message(String(repeating: "t", count: 1_000)),
    ])
    func `payloads, properties and topics of kept messages count toward the byte limit`(_ message: ReceivedMessage) {
        var kept = KeptMessages(limit: .max, byteLimit: 20_000)
        var count = 0
        while kept.keep(message, until: nil) { count += 1 }
        #expect((8...16).contains(count))
        #expect(kept.byteCount <= 20_000)
        #expect(kept.count == count)
    }

    @Test func `kept messages no longer count toward the byte limit after they expire or are delivered`() {
        var kept = KeptMessages(limit: .max, byteLimit: 5_000)
        let message = Self.message("t", payload: 3_000)
        for _ in 0..<3 {
            let answers = [kept.keep(message, until: Self.now), kept.keep(message, until: nil)]
            let expired = kept.removeExpired(now: Self.now)
            let isKept = kept.keep(message, until: nil)
            let taken = kept.take(nil)
            #expect(answers == [true, false] && isKept)
            #expect(expired.count == 1 && taken.count == 1)
            #expect(kept.byteCount == 0)
        }
    }

    @Test
    func `an ended reader's message counts toward the byte limit only after the deadline for its acknowledgement`() {
        var kept = KeptMessages(limit: .max, byteLimit: 5_000)
        let tickets = (0..<2).map { _ in AcknowledgementTicket(.kept(until: nil), readers: 1) { _ in } }
        for ticket in tickets {
            let isKept = kept.keepUnfinished(Self.message("t", payload: 3_000).ticketed(ticket), until: Self.now)
            #expect(isKept)
        }
        #expect(kept.byteCount == 0)
        let (finished, areAll) = kept.finishUnfinished(now: Self.now, orUntil: Self.now.advanced(by: .seconds(1)))
        #expect(finished.count == 1 && !areAll)
        #expect(kept.byteCount > 3_000)
        kept.removeAll()
        #expect(kept.byteCount == 0)
    }
}
