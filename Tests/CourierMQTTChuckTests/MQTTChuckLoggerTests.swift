import CourierCore
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTTChuck

@Suite(.timeLimit(.minutes(5))) struct MQTTChuckLoggerTests {
    @Test func `a logger above the row limit drops its oldest rows and counts the dropped rows`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 10
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        for batch in 0..<5 {
            try recording.observe(.incoming, (0..<4).map { try Recording.message("t/\(batch * 4 + $0)") })
        }
        let summary = logger.summary
        #expect(summary.rowCount == 10)
        #expect(summary.droppedCount == 10)
        #expect((summary.firstRow, summary.nextRow) == (11, 21))
        #expect(logger.rows().rows.map(\.topic) == (10..<20).map { "t/\($0)" })
        #expect(logger.rows().rows.map(\.number) == Array(11...20))
        #expect(logger.details(of: 10) == nil)
    }

    @Test func `after a million packets, a logger is within its row and byte limits`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 50_000
        options.logsMaxBytes = 1024 * 1024
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        let publishes = try Recording.encode(
            (1...500).map { try Recording.message("bench", id: PacketID(rawValue: $0), qos: .atLeastOnce) }, .v311,
            .outgoing)
        let answers = try Recording.encode(
            (1...500).map { .pubAck(Acknowledgement(packetID: try #require(PacketID(rawValue: $0)))) }, .v311, .incoming
        )
        for _ in 0..<1_200 {
            recording.observe(.outgoing, bytes: publishes)
            recording.observe(.incoming, bytes: answers)
        }
        let summary = logger.summary
        #expect(summary.nextRow == 1_200_001)
        #expect(summary.byteCount <= options.logsMaxBytes)
        #expect(summary.rowCount <= options.logsMaxSize)
        #expect(summary.rowCount > 1_000)
        #expect(summary.droppedCount + UInt64(summary.rowCount) == 1_200_000)
        #expect(logger.metrics.total(.outgoing).packets == 600_000)
        #expect(logger.metrics.inFlightOutgoing == 0)
        #expect(logger.rows(limit: 10).rows.allSatisfy { $0.problem == nil })
    }

    @Test func `if one batch exceeds the byte limit, the logger stores the newest packets of the batch`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxBytes = 20_000
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        try recording.observe(
            .incoming, (0..<1_000).map { try Recording.message("t/\($0)", String(repeating: "x", count: 90)) })
        let rows = logger.rows().rows
        #expect(logger.summary.byteCount <= 20_000)
        #expect(rows.count > 50)
        #expect(rows.last?.topic == "t/999")
        #expect(rows.map(\.number) == (logger.summary.firstRow..<logger.summary.nextRow).map { $0 })
    }

    @Test func `rows older than the age limit are dropped even if no new packets are recorded`() throws {
        let now = Mutex(Nanoseconds.since1970(Recording.opened))
        var options = MQTTChuckOptions()
        options.logsMaxAge = .seconds(60)
        let logger = MQTTChuckLogger(options: options) { now.withLock { $0 } }
        let recording = Recording(logger)
        try recording.send(Recording.message("old"), at: 0)
        try recording.send(Recording.message("new"), at: 50_000)
        #expect(logger.summary.rowCount == 2)
        now.withLock { $0 += 61 * Nanoseconds.perSecond }
        #expect(logger.rows().rows.map(\.topic) == ["new"])
        #expect(logger.summary.rowCount == 1)
        try recording.send(Recording.message("newest"), at: 111_000)
        #expect(logger.rows().rows.map(\.topic) == ["newest"])
        #expect(logger.summary.droppedCount == 2)
    }

    @Test func `reading an idle logger returns no rows older than the age limit`() throws {
        let now = Mutex(Nanoseconds.since1970(Recording.opened))
        var options = MQTTChuckOptions()
        options.logsMaxAge = .seconds(60)
        let reads: [(MQTTChuckLogger) -> Int] = [
            { $0.rows().rows.count }, { $0.rows(before: .max).rows.count }, { $0.details(of: 1) == nil ? 0 : 1 },
            { $0.metrics.summary.rowCount }, { $0.summary.rowCount },
        ]
        for read in reads {
            let logger = MQTTChuckLogger(options: options) { now.withLock { $0 } }
            try Recording(logger).send(Recording.message("old"), at: 0)
            #expect(read(logger) == 1)
            now.withLock { $0 += 61 * Nanoseconds.perSecond }
            #expect(read(logger) == 0)
            now.withLock { $0 -= 61 * Nanoseconds.perSecond }
        }
    }

    @Test func `if a packet is larger than packetMaxSize, its row is truncated and shows the full size`() throws {
        var options = MQTTChuckOptions()
        options.packetMaxSize = 1_000
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        let large = try Recording.message(
            "big", String(repeating: "0123456789", count: 100_000), id: 7, qos: .atLeastOnce)
        try recording.send(Recording.message("before"), large, Recording.message("after"))
        try recording.receive(.pubAck(Acknowledgement(packetID: 7)), at: 3)
        let rows = logger.rows().rows
        #expect(rows.map(\.topic) == ["before", "big", "after", nil])
        #expect(rows[1].payloadSize == 1_000_000)
        #expect(rows[1].size > 1_000_000)
        #expect(rows[1].packetID == 7)
        #expect(rows[1].preview.isCut)
        #expect(rows[1].preview.text.hasPrefix("0123456789"))
        #expect(rows[1].roundTrip == .milliseconds(3))
        #expect(!rows[1].isError)
        #expect(logger.summary.byteCount < 5_000)
        let details = try #require(logger.details(of: 2))
        #expect(details.bytes.count == 1_000)
        #expect(details.bytes[details.payload].starts(with: Array("0123456789".utf8)))
    }

    @Test func `a logger separates the connections of its clients, and does not record the traffic of another logger`()
        throws
    {
        let both = MQTTChuckLogger.test()
        let other = MQTTChuckLogger.test()
        try Recording(both, id: 1, client: "a").send(Recording.message("1"))
        try Recording(both, id: 2, client: "b").send(Recording.message("2"))
        try Recording(both, id: 3, client: "a").send(Recording.message("3"))
        try Recording(both, id: 4, client: "a", host: "elsewhere").send(Recording.message("4"))
        try Recording(other, id: 5, client: "a").send(Recording.message("5"))
        let rows = both.rows().rows
        #expect(rows.map(\.connection.clientID) == ["a", "b", "a", "a"])
        #expect(rows.map(\.connection.ordinal) == [1, 1, 2, 1])
        #expect(both.connections.map(\.state) == [.superseded, .connecting, .connecting, .connecting])
        #expect(other.rows().rows.map(\.topic) == ["5"])
    }

    @Test func `a recorded connection becomes superseded when its client connects to another broker`() throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, id: 1, host: "first", clientNumber: 5).connect()
        try Recording(logger, id: 2, host: "second", clientNumber: 5).connect()
        #expect(logger.connections.map(\.state) == [.superseded, .connected])
        #expect(logger.connections.map(\.connection.ordinal) == [1, 2])
        #expect(logger.metrics.openConnections == 1)
        #expect(logger.metrics.reconnects == 1)
        // Another client with the same client id. A broker serves only one of them at a time ([MQTT-3.1.4-3]).
        try Recording(logger, id: 3, host: "second", clientNumber: 6).connect()
        #expect(logger.connections.map(\.state) == [.superseded, .superseded, .connected])
        #expect(logger.connections.last?.connection.ordinal == 1)
    }

    @Test func `a recorded connection becomes superseded when the broker accepts another client with the same id`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, id: 1, clientNumber: 1).connect()
        let refused = Recording(logger, id: 2, clientNumber: 2)
        try refused.send(.connect(Connect(version: .v5, clientID: "phone-7")))
        #expect(logger.connections.map(\.state) == [.connected, .connecting])
        try refused.receive(.connAck(ConnAck(reasonCode: .notAuthorized)))
        #expect(logger.connections.map(\.state) == [.connected, .refused])
        #expect(logger.metrics.openConnections == 1)
        // The connection is also superseded if the earlier attempt of the new client was refused.
        try Recording(logger, id: 3, clientNumber: 2).connect()
        #expect(logger.connections.map(\.state) == [.superseded, .refused, .connected])
        #expect(logger.metrics.openConnections == 1)
    }

    @Test func `a recorded connection becomes superseded even if the new client is disconnected right after CONNACK`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, id: 1, clientNumber: 1).connect()
        let refused = Recording(logger, id: 2, clientNumber: 2)
        try refused.send(.connect(Connect(version: .v5, clientID: "phone-7")))
        try refused.receive(.connAck(ConnAck(reasonCode: .notAuthorized)))
        logger.clear()
        for id in UInt64(3)..<200 { try Recording(logger, id: id, client: "other-\(id)", clientNumber: id).connect() }
        #expect(logger.connections.first?.state == .connected)
        #expect(!logger.connections.contains { $0.connection.id == 2 }, "it has to be forgotten for this test")
        let last = Recording(logger, id: 200, clientNumber: 2)
        try last.send(.connect(Connect(version: .v5, clientID: "phone-7")))
        try last.receive(.connAck(ConnAck()), .disconnect(Disconnect(reasonCode: .serverBusy)))
        #expect(logger.connections.first?.state == .superseded)
        #expect(logger.metrics.openConnections == 197)
    }

    @Test(arguments: [[1, 2], [nil, nil]] as [[UInt64?]])
    func `the connection of a client without a client id supersedes no other connection`(clientNumbers: [UInt64?])
        throws
    {
        let logger = MQTTChuckLogger.test()
        for (index, number) in clientNumbers.enumerated() {
            try Recording(logger, id: UInt64(index) + 1, client: "", clientNumber: number).connect()
        }
        #expect(logger.connections.map(\.state) == [.connected, .connected])
        #expect(logger.metrics.openConnections == 2)
        #expect(logger.metrics.reconnects == 0)
    }

    @Test func `the state of a connection follows from its CONNECT, CONNACK and DISCONNECT packets`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(.connect(Connect(version: .v5, clientID: "phone-7")))
        #expect(logger.connections.map(\.state) == [.connecting])
        try recording.receive(.connAck(ConnAck()))
        #expect(logger.connections.map(\.state) == [.connected])
        try recording.send(Recording.message("a", id: 1, qos: .atLeastOnce), at: 7)
        #expect(logger.connections.map(\.inFlight) == [1])
        #expect(logger.connections.first?.lastPacketAt == Recording.opened.addingTimeInterval(0.007))
        try recording.send(.disconnect(Disconnect()))
        #expect(logger.connections.map(\.state) == [.disconnected])
    }

    @Test func `clear() removes the rows but does not reset row numbers and metrics`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("a", id: 1, qos: .atLeastOnce))
        logger.clear()
        #expect(logger.rows().rows.isEmpty)
        #expect(logger.summary.byteCount == 0)
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 4)
        let row = try #require(logger.rows().rows.first)
        #expect(row.number == 2)
        #expect(row.roundTrip == .milliseconds(4))
        #expect(logger.details(of: 2)?.exchange.map(\.number) == [2])
        #expect(logger.metrics.total(.outgoing).packets == 1)
        #expect(logger.summary.droppedCount == 0)
    }

    @Test func `the logger returns every row if rows are read in pages, forward or backward`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        for batch in 0..<100 {
            try recording.observe(
                .incoming, (0..<(batch % 7 + 1)).map { try Recording.message($0 == 0 ? "head" : "t") })
        }
        let all = logger.rows(limit: .max).rows.map(\.number)
        #expect(all == (1..<logger.summary.nextRow).map { $0 })
        var forwards: [UInt64] = []
        var next: UInt64 = 0
        while true {
            let page = logger.rows(from: next, limit: 13)
            if page.rows.isEmpty { break }
            forwards += page.rows.map(\.number)
            next = page.next
        }
        #expect(forwards == all)
        var backwards: [UInt64] = []
        var end = UInt64.max
        while true {
            let page = logger.rows(before: end, limit: 17)
            if page.rows.isEmpty { break }
            backwards = page.rows.map(\.number) + backwards
            end = page.next
        }
        #expect(backwards == all)
        let query = try MQTTChuckQuery("topic:head")
        #expect(logger.rows(before: .max, matching: query, limit: 1_000).rows.count == 100)
        let page = logger.rows(matching: query, scanLimit: 10)
        #expect(page.next == 11)
    }

    @Test func `the last packet of an exchange is found after thousands of other exchanges`()
        throws
    {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 100_000
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        try recording.send(Recording.message("slow", id: 1, qos: .atLeastOnce), at: 0)
        let others = 3 * MQTTChuckLogger.linkChunk
        for number in 0..<others {
            try recording.send(.pingReq, at: number)
            try recording.receive(.pingResp, at: number)
        }
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 5_000)
        let last = UInt64(others * 2 + 2)
        #expect(logger.rows(limit: 1).rows.first?.roundTrip == .seconds(5))
        #expect(logger.details(of: 1)?.exchange.map(\.number) == [1, last])
        #expect(logger.rows(matching: try MQTTChuckQuery("took:>4s")).rows.map(\.number) == [1, last])
        // Reads the links of one lock of the state.
        func links(from row: UInt64) -> [ExchangeLink] {
            logger.state.withLock { $0.recorder.links(from: row, limit: MQTTChuckLogger.linkChunk) }
        }
        #expect(links(from: 0).count == MQTTChuckLogger.linkChunk)
        #expect(links(from: last).map(\.start) == [1])
        #expect(links(from: last + 1).isEmpty)

        // After many links, the row has no round-trip time. Only its details still find the end of the exchange.
        for number in 0...MQTTChuckLogger.linksLookedThrough {
            try recording.send(.pingReq, at: number)
            try recording.receive(.pingResp, at: number)
            if number == 0 { try recording.send(Recording.message("slower", id: 2, qos: .atLeastOnce), at: 0) }
        }
        try recording.receive(.pubAck(Acknowledgement(packetID: 2)), at: 9_000)
        #expect(logger.rows(from: last + 3, limit: 1).rows.first?.roundTrip == nil)
        #expect(logger.details(of: last + 3)?.exchange.last?.roundTrip == .seconds(9))
    }

    @Test func `waiting for changes ends when a packet arrives, clear() is called or the task is cancelled`()
        async throws
    {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        var changes = logger.changes.makeAsyncIterator()
        #expect(await changes.next()?.nextRow == 1)
        let message = try Recording.encode([Recording.message("a")], .v5, .outgoing)
        async let fed: Void = recording.observe(.outgoing, bytes: message)
        #expect(await changes.next()?.nextRow == 2)
        await fed
        async let cleared: Void = logger.clear()
        #expect(await changes.next()?.clearCount == 1)
        await cleared
        let task = Task { [changes] in
            var changes = changes
            return await changes.next()
        }
        task.cancel()
        #expect(await task.value == nil)
        #expect(logger.state.withLock { $0.waiters.isEmpty })
    }

    @Test func `recording and reading on many threads at the same time loses no packet`()
        async throws
    {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 1_000
        let logger = MQTTChuckLogger.test(options)
        let bytes = try Recording.encode((0..<10).map { _ in try Recording.message("a/b") }, .v311, .incoming)
        await withTaskGroup { group in
            for id in UInt64(1)...4 {
                group.addTask {
                    let recording = Recording(logger, id: id, client: "c\(id)", version: .v311)
                    for _ in 0..<1_000 { recording.observe(.incoming, bytes: bytes) }
                }
            }
            group.addTask {
                for _ in 0..<200 {
                    let rows = logger.rows(limit: 100).rows
                    if !rows.allSatisfy({ $0.topic == "a/b" }) { Issue.record("a row of something else") }
                    _ = logger.metrics
                }
            }
        }
        #expect(logger.summary.nextRow == 40_001)
        #expect(logger.summary.rowCount == 1_000)
    }

    @Test func `2000 connections are counted by state and read in pages of limited size`()
        throws
    {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 1_000
        let logger = MQTTChuckLogger.test(options)
        for id in UInt64(1)...2_000 {
            let recording = Recording(logger, id: id, client: "c\(id % 700)", version: .v311)
            try recording.connect()
            if id % 3 > 0 { try recording.send(Recording.message("a", id: 1, qos: .atLeastOnce)) }
            if id % 5 == 0 { try recording.receive(Recording.message("b", id: 1, qos: .exactlyOnce)) }
            if id % 7 == 0 { try recording.send(.disconnect(Disconnect())) }
        }
        let (connections, metrics) = (logger.connections, logger.metrics)
        #expect(connections.map(\.id) == Set(connections.map(\.id)).sorted())
        // The last connections of the 700 clients, without those that were disconnected.
        #expect(connections.count { $0.state == .connected } == 600)
        #expect(metrics.openConnections == 600)
        #expect(metrics.inFlightOutgoing + metrics.inFlightIncoming == connections.reduce(0) { $0 + $1.inFlight })
        #expect(metrics.inFlightIncoming > 100)
        let part = logger.state.withLock { $0.recorder.connectionStatuses(in: 0..<MQTTChuckLogger.chunk) }
        #expect(part.count <= MQTTChuckLogger.chunk)
        // Open exchanges of an imported file do not count as in flight.
        let copy = MQTTChuckLogger.test(options)
        try copy.importJSONLines(logger.exported(.jsonLines))
        #expect(copy.metrics.openConnections == copy.connections.count { $0.state == .connected })
        #expect(copy.metrics.inFlightOutgoing == 0)
    }

    @Test func `a logger removes a closed connection when all rows of the connection are dropped`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 10
        let logger = MQTTChuckLogger.test(options)
        for id in UInt64(1)...5_000 {
            let recording = Recording(logger, id: id, version: .v311)
            try recording.send(.connect(Connect(version: .v311, clientID: "phone-7")), .disconnect(Disconnect()))
        }
        #expect(logger.connections.count < 200)
        #expect(logger.rows().rows.last?.connection.ordinal == 5_000)
        #expect(logger.metrics.reconnects == 4_999)
    }
}
