import CourierCore
import Testing

@testable import CourierSQLite

@Suite struct StoreInboxTests {
    /// A batch with half of the changes that one transaction may contain.
    private static let batch = StoreBatch(Array(repeating: .forgetPacketID(1), count: 4_096), .client) { _ in }

    private static func put(_ count: Int, into inbox: inout StoreInbox) {
        for _ in 0..<count { _ = inbox.put(batch, .default, path: "store") }
    }

    /// Takes the next work, and returns its number of batches and of reads.
    private static func take(from inbox: inout StoreInbox) -> [Int] {
        let work = inbox.take(sleeping: false)
        return [work.batches.count, work.reads.count]
    }

    @Test func `a read waits for batches that were added before the read, but not for later batches`() {
        var inbox = StoreInbox()
        Self.put(3, into: &inbox)
        _ = inbox.put { _ in }
        #expect(Self.take(from: &inbox) == [2, 0])
        Self.put(2, into: &inbox)
        #expect(Self.take(from: &inbox) == [2, 1])  // The third batch, and a batch that was added later.
        _ = inbox.put { _ in }
        Self.put(2, into: &inbox)
        _ = inbox.put { _ in }
        #expect(Self.take(from: &inbox) == [2, 1])
        #expect(Self.take(from: &inbox) == [1, 1])
        #expect(Self.take(from: &inbox) == [0, 0])
    }

    @Test func `StoreInbox returns reads immediately if no batch waits, and marks the last batches after close()`() {
        var inbox = StoreInbox()
        _ = inbox.put { _ in }
        Self.put(3, into: &inbox)
        _ = inbox.put { _ in }
        _ = inbox.close(nil)
        #expect(Self.take(from: &inbox) == [2, 1])
        let last = inbox.take(sleeping: false)
        #expect(last.batches.count == 1 && last.reads.count == 1 && last.isLast)
    }
}
