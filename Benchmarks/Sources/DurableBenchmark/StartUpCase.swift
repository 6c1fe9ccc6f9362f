import BenchmarkHarness
import Foundation

/// One row of the second table: the library whose start is measured, and the number of stored messages.
struct StartUpCase: Sendable {
    enum Library: String, Sendable {
        case courier, paho
    }

    /// A step of the measurement. Each step runs in a separate process.
    enum Step: String, Sendable {
        case fill, ready, connect
    }

    let library: Library
    let rows: Int

    /// All rows of the table. Paho can store at most 65,535 messages, because each needs a packet id.
    static let all = [
        StartUpCase(library: .courier, rows: 0), StartUpCase(library: .courier, rows: 30_000),
        StartUpCase(library: .courier, rows: 1_000_000), StartUpCase(library: .paho, rows: 0),
        StartUpCase(library: .paho, rows: 30_000),
    ]

    /// Fills a folder with messages, and measures `rounds` starts with it.
    func measure(rounds: Int, in parent: URL) throws -> StartUp {
        let folder = try ScratchFolder(in: parent)
        let sink = try Sink(
            qos: 1, count: 10_000_000, payloadSize: Workload.payloadSize, window: Workload.window, topic: Workload.topic
        )
        defer { sink.stop() }
        _ = try run(.fill, folder.url, sink.port)
        var runs: [StartUp] = []
        for _ in 0..<rounds {
            let ready = try run(.ready, folder.url, sink.port)
            guard ready.rows == rows else { throw Failure("\(library) found \(ready.rows) of \(rows) messages") }
            // A connected client sends and removes the stored messages. It therefore uses a copy of the folder.
            let copy = try ScratchFolder(in: parent)
            let inside = copy.url.appendingPathComponent("copy")
            try FileManager.default.copyItem(at: folder.url, to: inside)
            let connected = try run(.connect, inside, sink.port)
            runs.append(StartUp(ready: ready.readySeconds, connected: connected.connectedSeconds, rows: rows))
        }
        return StartUp(medianOf: runs)
    }

    private func run(_ step: Step, _ folder: URL, _ port: UInt16) throws -> StartUp {
        let output = try OwnProcess.output(of: [
            "start", library.rawValue, step.rawValue, "\(rows)", "\(port)", folder.path,
        ])
        guard let start = StartUp(line: output) else {
            throw Failure("start with \(rows) messages, \(library), \(step): no result")
        }
        return start
    }

    /// Performs one step in this process.
    func perform(_ step: Step, _ folder: URL, _ port: UInt16) async throws -> StartUp {
        switch (library, step) {
        case (.courier, .fill): try await StartUp.fillStore(folder, rows: rows, port: port)
        case (.courier, .ready): return try await StartUp(openingStoreIn: folder, port: port)
        case (.courier, .connect): return try await StartUp(connectingWithStoreIn: folder, port: port)
        case (.paho, .fill): try StartUp.fillPaho(folder, rows: rows, port: port)
        case (.paho, .ready): return try StartUp(pahoIn: folder, port: port, connects: false)
        case (.paho, .connect): return try StartUp(pahoIn: folder, port: port, connects: true)
        }
        return StartUp(ready: 0, connected: 0, rows: rows)
    }
}
