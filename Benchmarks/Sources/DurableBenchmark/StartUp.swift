import BenchmarkHarness
import CPeers
import CourierCore
import CourierSQLite
import Foundation

/// The time that a new process needs to continue with the messages that an earlier process stored.
struct StartUp: Sendable {
    /// Courier: the time to open the store, count its messages and read the first 1,000 of them. Paho: the time to
    /// create its client.
    let readySeconds: Double
    /// The time from the start until a client with that store is connected.
    let connectedSeconds: Double
    /// The number of stored messages that were found.
    let rows: Int

    init(ready: Double, connected: Double, rows: Int) {
        (readySeconds, connectedSeconds, self.rows) = (ready, connected, rows)
    }

    init?(line: String) {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 3, let ready = Double(fields[0]), let connected = Double(fields[1]),
            let rows = Int(fields[2])
        else { return nil }
        (readySeconds, connectedSeconds, self.rows) = (ready, connected, rows)
    }

    /// The result as one line, which a separate process prints.
    var line: String { "\(readySeconds) \(connectedSeconds) \(rows)" }

    /// Creates a result from the median of each measured value. `runs` must not be empty.
    init(medianOf runs: [StartUp]) {
        func median(_ value: (StartUp) -> Double) -> Double { runs.map(value).sorted()[runs.count / 2] }
        (readySeconds, connectedSeconds) = (median(\.readySeconds), median(\.connectedSeconds))
        rows = runs[0].rows
    }
}

// MARK: - Courier

extension StartUp {
    fileprivate static func scope(_ port: UInt16) -> StoreScope {
        StoreScope(clientID: "courier", broker: "127.0.0.1:\(port)")
    }

    /// Stores `rows` messages in `folder`, for a broker on `port`.
    static func fillStore(_ folder: URL, rows: Int, port: UInt16) async throws {
        let store = try SQLiteMessageStore(at: folder.appendingPathComponent("messages.courier"))
        for first in stride(from: 0, to: rows, by: 1_000) {
            let messages = (first..<min(first + 1_000, rows)).map { Workload.message(UInt64($0 + 1)) }
            try await withCheckedThrowingContinuation { continuation in
                store.commit(messages.map { .enqueue($0) }, in: scope(port)) { continuation.resume(with: $0) }
            }
        }
        await store.close()
    }

    /// Measures how long it takes to open the store that ``fillStore(_:rows:port:)`` created.
    init(openingStoreIn folder: URL, port: UInt16) async throws {
        let file = folder.appendingPathComponent("messages.courier")
        let start = ContinuousClock.now
        let store = try SQLiteMessageStore(at: file)
        rows = try await store.summary(of: Self.scope(port)).outgoingCount
        _ = try await store.outgoing(in: Self.scope(port), after: nil, limit: 1_000)
        readySeconds = (ContinuousClock.now - start) / .seconds(1)
        connectedSeconds = 0
        await store.close()
    }

    /// Measures the time until a client with that store is connected.
    init(connectingWithStoreIn folder: URL, port: UInt16) async throws {
        let start = ContinuousClock.now
        let store = try SQLiteMessageStore(at: folder.appendingPathComponent("messages.courier"))
        let client = DurableRun.client(of: port, store)
        try await client.connected()
        connectedSeconds = (ContinuousClock.now - start) / .seconds(1)
        (readySeconds, rows) = (0, 0)
    }
}

// MARK: - Paho C

extension StartUp {
    /// Stores `rows` messages with Paho in `folder`, for a broker on `port`.
    static func fillPaho(_ folder: URL, rows: Int, port: UInt16) throws {
        guard paho_fill(folder.path, port, Int32(rows), Workload.payloadSize, Workload.topic) else {
            throw Failure("Paho did not store every message")
        }
    }

    /// Measures the start with the files that ``fillPaho(_:rows:port:)`` created.
    init(pahoIn folder: URL, port: UInt16, connects: Bool) throws {
        var start = paho_start()
        guard paho_measure_start(folder.path, port, connects, &start) else { throw Failure("Paho does not start") }
        (readySeconds, connectedSeconds, rows) = (start.created, start.connected, Int(start.pending))
    }
}
