import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct KeepAliveSearchTests {
    // MARK: The search

    @Test func `each answered ping makes the next ping interval one step longer, up to the maximum`() {
        var path = QuietPath()
        var intervals: [Duration] = []
        for _ in 0..<12 {
            intervals.append(path.interval)
            path.rest()
        }
        #expect(intervals == .seconds(60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 600, 600))
        #expect(path.finding?.interval == .seconds(600))
        #expect(path.finding?.failedInterval == nil)
        // The memory is stored only when it has changed.
        #expect(path.changeCount == 10)
    }

    @Test func `after the first connection loss, the ping interval stays at the longest interval without a loss`() {
        var path = QuietPath(limit: .seconds(200))
        #expect(path.settle() == 5)
        #expect(path.interval == .seconds(180))
        #expect(path.finding?.failedInterval == .seconds(240))
        #expect(path.lossCount == 1)
        for _ in 0..<100 { path.rest() }
        #expect(path.lossCount == 1)
        #expect(path.interval == .seconds(180))
    }

    @Test func `for any limit of the network, the interval search needs at most one loss and about one ping per step`()
    {
        for (minimum, maximum, step) in [(60, 600, 60), (30, 100, 25), (10, 10, 5), (1, 300, 100), (100, 460, 30)] {
            let keepAlive = AdaptiveKeepAlive(
                minimumInterval: .seconds(minimum), maximumInterval: .seconds(maximum), step: .seconds(step))
            for limit in stride(from: minimum, through: maximum + step, by: 1) {
                var path = QuietPath(keepAlive, limit: .seconds(limit))
                let count = path.settle()
                let steps = (maximum - minimum + step - 1) / step
                #expect(count <= steps + 2)
                #expect(path.lossCount <= 1)
                let reached = path.interval
                #expect(reached <= .seconds(limit))
                #expect(reached == .seconds(maximum) || reached + .seconds(step) > .seconds(limit))
            }
        }
    }

    @Test func `the ping interval never falls below the minimum, even if every connection is lost`() {
        var path = QuietPath(limit: .seconds(59))
        for _ in 0..<10 { path.rest() }
        #expect(path.lossCount == 10)
        #expect(path.interval == .seconds(60))
        path.limit = nil
        path.rest()
        #expect(path.interval == .seconds(120))
    }

    @Test func `if the network path becomes worse, each loss shortens the ping interval by one step`() {
        for worse in stride(from: 60, through: 400, by: 7) {
            var path = QuietPath(limit: .seconds(430))
            _ = path.settle()
            #expect(path.interval == .seconds(420))
            path.limit = .seconds(worse)
            let count = path.settle()
            #expect(path.interval <= .seconds(worse))
            #expect(path.interval + .seconds(60) > .seconds(worse))
            #expect(path.lossCount - 1 <= (420 - worse) / 60 + 1)
            #expect(count <= path.lossCount + 1)
        }
    }

    // MARK: What counts as silence

    @Test func `any sent or received packet restarts the ping interval`() {
        var path = QuietPath()
        path.pass(.seconds(50))
        path.carry()
        #expect(path.fireTimer() == .none)
        #expect(path.silence.duration == .seconds(10))
        path.pass(.seconds(49))
        path.carry()
        #expect(path.fireTimer() == .none)
        #expect(path.fireTimer() == .ping)
        #expect(path.silence.duration == .seconds(60))
        path.answer()
        #expect(path.interval == .seconds(120))
    }

    @Test func `if the time of the last packet is unknown, the ping timer starts another full interval`() {
        var path = QuietPath()
        path.pass(.seconds(60))
        #expect(path.search.timerFired(lastActivity: nil, now: path.now) == .none)
        #expect(path.search.deadline == path.now + .seconds(60))
    }

    @Test func `the answer to a ping that the keep-alive search did not send does not change the ping interval`() {
        var path = QuietPath()
        path.pass(.seconds(30))
        path.answer()
        #expect(path.interval == .seconds(60))
        #expect(path.finding == nil)
    }

    @Test func `a timer that fires early or without a deadline has no effect`() {
        var path = QuietPath()
        #expect(path.search.timerFired(lastActivity: path.lastActivity, now: path.now) == .none)
        #expect(path.fireTimer() == .ping)
        #expect(path.search.deadline == nil)
        #expect(path.search.timerFired(lastActivity: path.lastActivity, now: path.now) == .none)
        path.close()
        #expect(path.search.deadline == nil)
        #expect(path.search.timerFired(lastActivity: path.lastActivity, now: path.now) == .none)
        #expect(path.search.pongReceived(now: path.now, date: path.date) == .none)
    }

    // MARK: What is to blame

    /// A search that has had an answer after 120 s, and tries 180 s.
    private func searching() -> QuietPath {
        var path = QuietPath()
        path.rest()
        path.rest()
        #expect(path.interval == .seconds(180))
        return path
    }

    @Test func `a connection lost during the longest silence so far shortens the ping interval`() {
        var path = searching()
        path.pass(.seconds(130))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(120))
        #expect(path.finding?.failedInterval == .seconds(180))
    }

    @Test func `if the first packet after a long silence gets no answer, the ping interval becomes shorter`() {
        var path = searching()
        path.pass(.seconds(130))
        let silence = path.silence
        path.carry()
        path.pass(.seconds(20))
        path.search.closed(silence, date: path.date)
        path.connect()
        #expect(path.interval == .seconds(120))
    }

    @Test
    func `a connection loss in a silence shorter than a successful ping interval shortens the interval by one step`() {
        var path = searching()
        path.pass(.seconds(100))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(60))
        #expect(path.finding?.failedInterval == .seconds(120))
    }

    @Test func `a connection lost during a silence shorter than the minimum does not change the ping interval`() {
        var path = searching()
        path.pass(.seconds(59))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `a connection that ends for a known reason does not change the ping interval`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close(isExplained: true)
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test
    func `a connection loss followed by an attempt that fails while connecting does not change the ping interval`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.attemptFails()
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test
    func `a connection loss before a move to another network does not change the ping interval of the old network`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.network = "street"
        path.connect()
        #expect(path.interval == .seconds(60))
        path.close(isExplained: true)
        path.network = "home"
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `a connection loss does not change the ping interval if the network was unavailable during the silence`()
    {
        var path = searching()
        path.pass(.seconds(20))
        path.search.disturbed(now: path.now)
        #expect(path.fireTimer() == .ping)
        path.close()
        path.connect()
        #expect(path.interval == .seconds(180))
        // A change of the network before the interval has no effect on the interval.
        path.search.disturbed(now: path.now)
        path.pass(.seconds(1))
        path.carry()
        while path.fireTimer() != .ping {}
        path.close()
        path.connect()
        #expect(path.interval == .seconds(120))
    }

    @Test
    func `a connection loss does not change the ping interval if no network is available before the next connection`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.pass(.seconds(200))
        path.search.disturbed(now: path.now)
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `a connection loss followed by an attempt that opens no connection does not change the ping interval`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.search.attemptFailed()
        path.connect()
        #expect(path.interval == .seconds(180))
        // A failed credential renewal does not disturb a connection.
        path.search.attemptFailed()
        path.rest()
        #expect(path.interval == .seconds(240))
    }

    @Test
    func `if a ping is sent late by one step, a connection loss after the ping does not change the ping interval`() {
        var path = searching()
        #expect(path.fireTimer(late: .seconds(60)) == .ping)
        path.close()
        path.connect()
        #expect(path.interval == .seconds(180))
        #expect(path.fireTimer(late: .milliseconds(59_999)) == .ping)
        path.close()
        path.connect()
        #expect(path.interval == .seconds(120))
    }

    // MARK: Bounds and networks

    @Test func `[MQTT-3.2.2-21] the ping interval is at most 90 % of the keep-alive that the broker requests`() {
        var path = QuietPath()
        path.close(isExplained: true)
        path.serverKeepAlive = .seconds(200)
        path.connect()
        _ = path.settle()
        #expect(path.interval == .seconds(180))
        path.close(isExplained: true)
        path.serverKeepAlive = .seconds(40)
        path.connect()
        #expect(path.interval == .seconds(36))
        _ = path.settle()
        #expect(path.finding?.interval == .seconds(180))
        path.close(isExplained: true)
        path.serverKeepAlive = nil
        path.connect()
        #expect(path.interval == .seconds(240))
    }

    @Test func `each network has its own ping interval, which is restored when the network is used again`() {
        var path = QuietPath(limit: .seconds(130))
        _ = path.settle()
        path.close(isExplained: true)
        path.network = "street"
        path.limit = .seconds(310)
        path.connect()
        #expect(path.interval == .seconds(60))
        _ = path.settle()
        #expect(path.interval == .seconds(300))
        let losses = path.lossCount
        for (network, interval) in [("home", 120), ("street", 300), ("home", 120)] {
            path.close(isExplained: true)
            path.network = network
            path.connect()
            #expect(path.interval == .seconds(interval))
            path.limit = .seconds(interval)
            for _ in 0..<5 { path.rest() }
        }
        #expect(path.lossCount == losses)
        #expect(path.search.memory.findings.map(\.network) == ["street", "home"])
    }

    @Test func `a network that is used again becomes the last entry of the keep-alive memory`() {
        var path = QuietPath()
        for network in ["home", "street", "office", "home"] {
            path.close(isExplained: true)
            path.network = network
            path.connect()
            if path.finding == nil { path.rest() }
        }
        #expect(path.search.memory.findings.map(\.network) == ["street", "office", "home"])
    }

    @Test func `a new client starts with the interval from the stored keep-alive memory`() throws {
        var path = QuietPath(limit: .seconds(200))
        _ = path.settle()
        var keepAlive = QuietPath.keepAlive
        let stored = try JSONEncoder().encode(path.search.memory)
        keepAlive.memory = try JSONDecoder().decode(KeepAliveMemory.self, from: stored)
        path = QuietPath(keepAlive, limit: .seconds(200), date: path.date)
        #expect(path.interval == .seconds(180))
        #expect(path.settle() == 1)
        #expect(path.lossCount == 0)
    }

    @Test func `a ping interval that failed is tried again after one day, not earlier`() {
        var path = QuietPath(limit: .seconds(200))
        _ = path.settle()
        path.limit = nil
        path.date += 86_000
        path.rest()
        #expect(path.interval == .seconds(180))
        path.date += 400
        path.rest()
        #expect(path.interval == .seconds(240))
        _ = path.settle()
        #expect(path.interval == .seconds(600))
        #expect(path.lossCount == 1)
    }

    @Test func `a ping interval that failed is tried again if the wall clock goes back`() {
        var path = QuietPath(limit: .seconds(200))
        _ = path.settle()
        path.limit = nil
        path.date -= 1_000_000
        path.rest()
        #expect(path.interval == .seconds(240))
    }

    @Test(arguments: [
        (Duration.seconds(-5), Duration?.none), (.zero, .zero), (.seconds(Int64.max), .seconds(Int64.min)),
        (.seconds(Int64.max), .seconds(Int64.max)), (.seconds(3_600), nil),
    ])
    func `the ping interval stays within the bounds even if the stored keep-alive memory is invalid or out of bounds`(
        interval: Duration, failed: Duration?
    ) throws {
        var keepAlive = QuietPath.keepAlive
        keepAlive.memory.keep(
            KeepAliveMemory.Finding(
                network: "home", interval: interval, failedInterval: failed, date: .distantFuture))
        var path = QuietPath(keepAlive, limit: .seconds(350))
        for _ in 0..<50 {
            #expect(path.interval >= .seconds(60))
            #expect(path.interval <= .seconds(600))
            path.rest()
        }
        #expect(path.interval <= .seconds(350))
    }
}
