import CourierMQTTChuck
import Foundation
import Testing

@testable import CourierMQTTChuckWeb

@Suite(.timeLimit(.minutes(5))) struct TickStreamTests {
    /// Stops the timer, and waits until its last check of the logger has ended.
    private static func stop(_ ticker: Ticker) {
        ticker.stop()
        ticker.queue.sync {}
    }

    @Test func `the event stream of a page reports new rows and clear()`() async throws {
        let page = try PageFixture()
        try page.session()
        let events = try await onThread { [port = page.server.port, head = page.head("events")] in
            let connection = try RawHTTP(port: port)
            try connection.send(head + "\r\n")
            let text = try connection.read(until: "\"nextRow\":7")
            #expect(text.contains("Content-Type: text/event-stream"))
            #expect(text.contains("retry: 1000"))
            return connection
        }
        try page.receive("news", "x".utf8)
        _ = try await onThread { try events.read(until: "\"nextRow\":8") }
        page.logger.clear()
        _ = try await onThread { try events.read(until: "\"clearCount\":1") }
    }

    @Test func `if a page reads its event stream late, the stream returns only the latest tick`() async throws {
        let logger = MQTTChuckLogger()
        let room = WaitingRoom()
        room.close()  // No request waits here: this test calls the stream itself.
        let ticker = Ticker(logger, room, ServerLimits())
        Self.stop(ticker)
        let stream = try #require(ticker.stream())
        let seat = try WaitingRoom.Seat(#require(OpaquePointer(bitPattern: 1)))
        func read(_ size: Int = 10_000) -> String? {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
            defer { buffer.deallocate() }
            guard case .bytes(let count) = stream.read(into: buffer, seat) else { return nil }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        #expect(read() == "retry: 1000\n\n")
        for _ in 0..<50 {
            logger.clear()
            ticker.look()
        }
        // One tick covers all changes in between. It is complete even if it is read in small pieces.
        var text = ""
        while let part = read(7) { text += part }
        #expect(text.components(separatedBy: "event: tick").count == 2)
        #expect(text.contains("\"clearCount\":50"))
        #expect(text.hasSuffix("\n\n"))
        #expect(read() == nil)
    }

    @Test func `without an open page, the ticker makes one tick per second, otherwise one tick per change`()
        throws
    {
        let logger = MQTTChuckLogger()
        let ticker = Ticker(logger, WaitingRoom(), ServerLimits())
        Self.stop(ticker)
        while ticker.history.isEmpty { ticker.look() }  // The timer may not have fired yet.
        func ticks(_ looks: Int) -> UInt64 {
            let before = ticker.tick(after: 0)?.number ?? 0
            for _ in 0..<looks {
                logger.clear()
                ticker.look()
            }
            return (ticker.tick(after: 0)?.number ?? 0) - before
        }
        #expect(ticks(4 * Ticker.looksBetweenTicks) == 4)
        logger.clear()
        let stream = try #require(ticker.stream())
        let before = ticker.tick(after: 0)?.number
        ticker.look()
        #expect(ticker.tick(after: 0)?.number != before)
        #expect(ticks(4 * Ticker.looksBetweenTicks) == UInt64(4 * Ticker.looksBetweenTicks))
        stream.close()
        #expect(ticks(4 * Ticker.looksBetweenTicks) == 4)
    }

    @Test func `the number of event streams is limited, and a new stream can open after another stream closes`() throws
    {
        var limits = ServerLimits()
        limits.eventStreams = 2
        let ticker = Ticker(MQTTChuckLogger(), WaitingRoom(), limits)
        let first = try #require(ticker.stream())
        let second = try #require(ticker.stream())
        #expect(ticker.stream() == nil)
        first.close()
        first.close()
        let third = try #require(ticker.stream())
        #expect(ticker.stream() == nil)
        for stream in [second, third] { stream.close() }
        Self.stop(ticker)
    }

    @Test func `the chart history has one sample per second and drops the oldest samples at its limit`() throws {
        let logger = MQTTChuckLogger()
        let ticker = Ticker(logger, WaitingRoom(), ServerLimits())
        Self.stop(ticker)
        let looks = (Ticker.historyLimit + 3) * Ticker.looksBetweenTicks
        for look in 0..<looks {
            if look % Ticker.looksBetweenTicks == 0 { logger.clear() }
            ticker.look()
        }
        let history = ticker.history
        #expect(history.count == Ticker.historyLimit)
        #expect(zip(history, history.dropFirst()).allSatisfy { $0.clearCount < $1.clearCount })
    }
}
