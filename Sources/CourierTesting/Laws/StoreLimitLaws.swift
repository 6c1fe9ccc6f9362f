import CourierCore

/// The laws about a store that is full.
enum StoreLimitLaws {
    /// A store with a small limit must be full before it holds this number of 1 KiB messages.
    private static let smallLimit: UInt64 = 2_000

    static func refusalChangesNothing(_ probe: StoreProbe) async throws {
        let (refused, error, before) = try await fill(probe)
        try require(error.code == .storeFull, "a full store reports the error code \(error.code) instead of storeFull")
        try require("the store after a refused batch", try await probe.snapshot(), is: before)
        // The second batch begins with changes that the store could accept alone. Its later changes need too much room,
        // so the store must refuse all changes of the batch.
        let batch = [.rememberPacketID(40_000), .removeOutgoing(StoreProbe.id(1))] + Self.batch(refused, times: 4)
        guard case .failure = await probe.result(of: batch) else {
            throw Finding("the store refused a batch and accepted the same batch later")
        }
        try require("the store after a refused batch with removals", try await probe.snapshot(), is: before)
    }

    static func fullStoreRemoves(_ probe: StoreProbe) async throws {
        let (next, _, before) = try await fill(probe)
        let ids = before.outgoing.map(\.message.id)
        try await probe.commit(ids.prefix(max(1, ids.count / 2)).map { .removeOutgoing($0) })
        let left = try await probe.outgoing().map(\.message.id)
        try require("the messages that remain after a removal", left, is: Array(ids.dropFirst(max(1, ids.count / 2))))
        try await probe.commit(.enqueue(StoreProbe.message(next + 10, payload: [1])))
        try require("the last outgoing message", try await probe.outgoingIDs().last, is: next + 10)
    }

    static func rejectedTakeNoRoom(_ probe: StoreProbe) async throws {
        let (next, _, before) = try await fill(probe)
        let ids = before.outgoing.map(\.message.id)
        try await probe.commit(ids.map { .reject($0, reason: "laws", at: StoreProbe.moment) })
        try require("outgoing messages when all are rejected", try await probe.outgoingIDs(), is: [])
        // The rejected messages use no room, so the store must accept the same number of messages of the same size
        // again.
        try await probe.commit(batch(next + 10, times: UInt64(ids.count)))
        try require("outgoing messages after rejections", try await probe.outgoingIDs().count, is: ids.count)
    }

    /// Stores batches until one is refused. Returns the first id of the refused batch, the error, and the content of
    /// the store.
    private static func fill(
        _ probe: StoreProbe
    ) async throws -> (refused: UInt64, error: CourierError, before: StoreProbe.Snapshot) {
        var id: UInt64 = 1
        while id <= smallLimit {
            if case .failure(let error) = await probe.result(of: batch(id, times: 2)) {
                let before = try await probe.snapshot()
                let stayed = before.outgoing.contains { $0.message.id.rawValue >= id }
                try require(!stayed, "the store kept a part of a refused batch")
                return (id, error, before)
            }
            id += 2
        }
        throw Finding("the store accepted \(smallLimit) messages of 1 KiB; use a store with a smaller limit")
    }

    private static func batch(_ id: UInt64, times: UInt64) -> [StoreChange] {
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 1_024)
        return (0..<times).map { .enqueue(StoreProbe.message(id + $0, payload: payload)) }
    }
}
