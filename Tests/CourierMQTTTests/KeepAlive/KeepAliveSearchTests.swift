import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct KeepAliveSearchTests {
    // MARK: The search

    @Test func `each answered ping makes the next silence a step longer, up to the maximum`() {
        var path = QuietPath()
        var intervals: [Duration] = []
        for _ in 0..<12 {
            intervals.append(path.interval)
            path.rest()
        }
        #expect(intervals == .seconds(60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 600, 600))
        #expect(path.finding?.interval == .seconds(600))
        #expect(path.finding?.failedInterval == nil)
        // Nothing is stored that is stored already.
        #expect(path.changeCount == 10)
    }

    @Test func `the first loss ends the search at the last interval that was survived`() {
        var path = QuietPath(limit: .seconds(200))
        #expect(path.settle() == 5)
        #expect(path.interval == .seconds(180))
        #expect(path.finding?.failedInterval == .seconds(240))
        #expect(path.lossCount == 1)
        for _ in 0..<100 { path.rest() }
        #expect(path.lossCount == 1)
        #expect(path.interval == .seconds(180))
    }

    @Test func `with any limit and bounds, the search takes one loss and a ping for each step`() {
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

    @Test func `a path that keeps nothing for the minimum gets no less`() {
        var path = QuietPath(limit: .seconds(59))
        for _ in 0..<10 { path.rest() }
        #expect(path.lossCount == 10)
        #expect(path.interval == .seconds(60))
        path.limit = nil
        path.rest()
        #expect(path.interval == .seconds(120))
    }

    @Test func `a path that becomes worse is followed down, a step for each loss`() {
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

    @Test func `whatever is sent or comes begins the silence anew`() {
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

    @Test func `a silence that nobody can see is waited for again`() {
        var path = QuietPath()
        path.pass(.seconds(60))
        #expect(path.search.timerFired(lastActivity: nil, now: path.now) == .none)
        #expect(path.search.deadline == path.now + .seconds(60))
    }

    @Test func `the answer to a ping of another's says nothing of the interval`() {
        var path = QuietPath()
        path.pass(.seconds(30))
        path.answer()
        #expect(path.interval == .seconds(60))
        #expect(path.finding == nil)
    }

    @Test func `a timer that is early or without need does nothing`() {
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

    /// One that has survived 120 s and tries 180.
    private func searching() -> QuietPath {
        var path = QuietPath()
        path.rest()
        path.rest()
        #expect(path.interval == .seconds(180))
        return path
    }

    @Test func `a connection that ends in a silence longer than any before has ended because of it`() {
        var path = searching()
        path.pass(.seconds(130))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(120))
        #expect(path.finding?.failedInterval == .seconds(180))
    }

    @Test func `so has one whose first packet after that silence had no answer`() {
        var path = searching()
        path.pass(.seconds(130))
        let silence = path.silence
        path.carry()
        path.pass(.seconds(20))
        path.search.closed(silence, date: path.date)
        path.connect()
        #expect(path.interval == .seconds(120))
    }

    @Test func `an end in a silence as was survived before costs one step`() {
        var path = searching()
        path.pass(.seconds(100))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(60))
        #expect(path.finding?.failedInterval == .seconds(120))
    }

    @Test func `a silence below the minimum is not to blame`() {
        var path = searching()
        path.pass(.seconds(59))
        path.close()
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `nor is one where the broker said why it ended the connection`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close(isExplained: true)
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `nor is one that an outage followed`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.attemptFails()
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `nor is one that ended because the machine went to another network`() {
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

    @Test func `nor is one in which the network was away`() {
        var path = searching()
        path.pass(.seconds(20))
        path.search.disturbed(now: path.now)
        #expect(path.fireTimer() == .ping)
        path.close()
        path.connect()
        #expect(path.interval == .seconds(180))
        // What was away before the silence has nothing to do with it.
        path.search.disturbed(now: path.now)
        path.pass(.seconds(1))
        path.carry()
        while path.fireTimer() != .ping {}
        path.close()
        path.connect()
        #expect(path.interval == .seconds(120))
    }

    @Test func `nor is one after which the network was found to be away`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.pass(.seconds(200))
        path.search.disturbed(now: path.now)
        path.connect()
        #expect(path.interval == .seconds(180))
    }

    @Test func `nor is one after which an attempt failed that never came to a connection`() {
        var path = searching()
        #expect(path.fireTimer() == .ping)
        path.close()
        path.search.attemptFailed()
        path.connect()
        #expect(path.interval == .seconds(180))
        // A renewal that fails disturbs no connection.
        path.search.attemptFailed()
        path.rest()
        #expect(path.interval == .seconds(240))
    }

    @Test func `nor is one that was a whole step too long`() {
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

    @Test func `[MQTT-3.2.2-21] nine tenths of the keep-alive that the broker asks for are the most`() {
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

    @Test func `each network has its own interval, and keeps it`() {
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

    @Test func `a network that is used again is the last to be forgotten`() {
        var path = QuietPath()
        for network in ["home", "street", "office", "home"] {
            path.close(isExplained: true)
            path.network = network
            path.connect()
            if path.finding == nil { path.rest() }
        }
        #expect(path.search.memory.findings.map(\.network) == ["street", "office", "home"])
    }

    @Test func `another client goes on where the first has stopped`() throws {
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

    @Test func `an interval that failed is tried again after a day, and no sooner`() {
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

    @Test func `a wall clock that goes back does not keep an interval for ever`() {
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
    func `a memory of other bounds, or one that was spoilt, keeps to the bounds`(
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
