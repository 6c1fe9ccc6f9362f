import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@MainActor @Suite(.timeLimit(.minutes(5))) struct MQTTChuckViewModelTests {
    @Test func `the view model shows existing rows and new rows, and removes the oldest rows`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 4
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.send(Recording.message("1"), Recording.message("2"))
        let model = MQTTChuckViewModel(logger, maximumRows: 3)
        #expect(model.rows.map(\.topic) == ["1", "2"])
        try recording.send(Recording.message("3"))
        model.refresh()
        #expect(model.rows.map(\.topic) == ["1", "2", "3"])
        try recording.send(Recording.message("4"), Recording.message("5"))
        model.refresh()
        #expect(model.rows.map(\.topic) == ["3", "4", "5"])
        for _ in 0..<5 {
            try recording.send(
                Recording.message("6"), Recording.message("7"), Recording.message("8"), Recording.message("9"))
        }
        model.refresh()
        #expect(model.rows.map(\.topic) == ["7", "8", "9"])
    }

    @Test func `maximumRows of the view model accepts any integer, and a value below 1 counts as 1`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("1"))
        let models = [Int.min, 0, .max].map { MQTTChuckViewModel(logger, maximumRows: $0) }
        try recording.send(Recording.message("2"))
        for model in models { model.refresh() }
        #expect(models.map { $0.rows.map(\.topic) } == [["2"], ["2"], ["1", "2"]])
    }

    @Test func `a search filters old and new rows, and an invalid search keeps the previous filter`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("a/1"), Recording.message("b/1"))
        let model = MQTTChuckViewModel(logger)
        model.search("topic:a/#")
        #expect(model.rows.map(\.topic) == ["a/1"])
        try recording.send(Recording.message("a/2"), Recording.message("b/2"))
        model.refresh()
        #expect(model.rows.map(\.topic) == ["a/1", "a/2"])
        model.search("topic:a/#/b")
        #expect(model.searchError?.column == 7)
        #expect(model.searchText == "topic:a/#/b")
        #expect(model.rows.map(\.topic) == ["a/1", "a/2"])
        model.search("")
        #expect(model.searchError == nil)
        #expect(model.rows.count == 4)
    }

    @Test func `a search for slow exchanges shows the first packet of an exchange after the slow response arrives`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("slow", id: 1, qos: .atLeastOnce), at: 0)
        try recording.send(Recording.message("fast", id: 2, qos: .atLeastOnce), at: 0)
        let model = MQTTChuckViewModel(logger)
        model.search("took:>50ms")
        #expect(model.rows.isEmpty)
        try recording.receive(.pubAck(Acknowledgement(packetID: 2)), at: 10)
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 80)
        model.refresh()
        #expect(model.rows.map(\.number) == [1, 4])
        model.search("-took:>50ms")
        try recording.send(Recording.message("slow", id: 3, qos: .atLeastOnce), at: 100)
        model.refresh()
        #expect(model.rows.map(\.number) == [2, 3, 5])
        try recording.receive(.pubAck(Acknowledgement(packetID: 3)), at: 200)
        model.refresh()
        #expect(model.rows.map(\.number) == [2, 3])
    }

    @Test func `when a response arrives, only a limited number of earlier rows is checked against the query again`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        let query = try MQTTChuckQuery("took:>1s")
        try recording.send(Recording.message("a", id: 1, qos: .atLeastOnce))
        let count = Int(MQTTChuckLogger.rowsLookedAtAgain) * 2
        try recording.observe(.incoming, (1..<count).map { _ in try Recording.message("b") })
        let end = UInt64(count) + 1
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 2_000)
        #expect(logger.firstRow(endedBy: end..<end + 1, for: query) == end - MQTTChuckLogger.rowsLookedAtAgain)
        #expect(logger.firstRow(endedBy: 2..<end, for: query) == nil)
        #expect(logger.firstRow(endedBy: 1..<end + 1, for: query) == nil)
        #expect(logger.firstRow(endedBy: end..<end + 1, for: .all) == nil)
    }

    @Test func `a paused view model does not change its rows and counts new rows`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        let model = MQTTChuckViewModel(logger)
        model.pause()
        try recording.send(Recording.message("1"), Recording.message("2"))
        model.refresh()
        #expect(model.rows.isEmpty)
        #expect(model.pendingCount == 2)
        model.resume()
        #expect(model.rows.map(\.topic) == ["1", "2"])
        #expect(model.pendingCount == 0)
    }

    @Test func `the selected row has details, and clear() removes the rows and the selection`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("1"), Recording.message("2"), Recording.message("3"))
        let model = MQTTChuckViewModel(logger)
        model.moveSelection(by: 1)
        #expect(model.selection == 1)
        model.moveSelection(by: 5)
        #expect(model.details?.row.topic == "3")
        model.moveSelection(by: -1)
        #expect(model.details?.row.topic == "2")
        model.select(99)
        #expect(model.selection == nil)
        model.moveSelection(by: -1)
        #expect(model.selection == 3)
        model.clear()
        #expect(model.selection == nil)
        #expect(model.rows.isEmpty)
        #expect(logger.summary.rowCount == 0)
    }

    @Test func `the view model groups rows by connection and by exchange`() throws {
        let logger = MQTTChuckLogger.test()
        let first = Recording(logger, id: 1, client: "a")
        let second = Recording(logger, id: 2, client: "b")
        try first.send(Recording.message("x", id: 5, qos: .exactlyOnce))  // 1
        try second.send(Recording.message("y", id: 5, qos: .atLeastOnce))  // 2
        try first.receive(.pubRec(Acknowledgement(packetID: 5)))  // 3
        try second.receive(.pubAck(Acknowledgement(packetID: 5)), Recording.message("z"))  // 4, 5
        let model = MQTTChuckViewModel(logger)
        #expect(model.sections.map { $0.rows.map(\.number) } == [[1, 2, 3, 4, 5]])
        model.grouping = .connection
        #expect(model.sections.map { $0.rows.map(\.number) } == [[1, 3], [2, 4, 5]])
        #expect(
            model.sections.map(\.title) == [
                "a on broker.example.com:8883, connection 1", "b on broker.example.com:8883, connection 1",
            ])
        model.grouping = .exchange
        #expect(model.sections.map { $0.rows.map(\.number) } == [[1, 3], [2, 4], [5]])
        #expect(model.sections.map(\.title) == ["PUBLISH 5 x", "PUBLISH 5 y", "PUBLISH z"])
    }

    @Test func `a started view model calls onChange after new rows and after clear()`() async throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        let model = MQTTChuckViewModel(logger, interval: .milliseconds(1))
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        model.onChange = { continuation.yield() }
        model.start()
        try recording.send(Recording.message("1"))
        var turns = changes.makeAsyncIterator()
        while model.rows.isEmpty { await turns.next() }
        #expect(model.rows.map(\.topic) == ["1"])
        logger.clear()
        while !model.rows.isEmpty { await turns.next() }
        #expect(model.summary.clearCount == 1)
        model.stop()
    }

    @Test func `a started view model is deallocated when its last reference is gone`() async throws {
        let logger = MQTTChuckLogger.test()
        var model: MQTTChuckViewModel? = MQTTChuckViewModel(logger)
        model?.start()
        weak let gone = model
        model = nil
        while gone != nil { await Task.yield() }
        #expect(gone == nil)
    }
}
