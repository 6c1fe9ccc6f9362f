import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// Rules that hold for every sequence of inputs.
@Suite struct KeepAliveSearchWalkTests {
    private static let networks = ["home", "street", "office"]

    @Test(arguments: SeededGenerator.seeds)
    func `after random inputs, the ping interval is within its bounds and below each interval that failed`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let minimum = 1 + random.below(100)
            let maximum = minimum + random.below(500)
            let keepAlive = AdaptiveKeepAlive(
                minimumInterval: .seconds(minimum), maximumInterval: .seconds(maximum),
                step: .seconds(1 + random.below(100)))
            var path = QuietPath(keepAlive)
            var isConnected = true
            var agreed: Duration?
            var trail: [String] = []
            for _ in 0..<200 {
                let move = random.below(10)
                trail.append("\(move)")
                switch move {
                case 0, 1, 2: if path.fireTimer() == .ping { path.answer() }
                case 3: if path.fireTimer(late: .seconds(random.below(200))) == .ping, random.flag() { path.answer() }
                case 4: path.pass(.seconds(random.below(maximum)))
                case 5: path.carry()
                case 6: path.search.disturbed(now: path.now)
                case 7: path.date += Double(random.below(200_000) - 50_000)
                case 8:
                    path.close(isExplained: random.chance(1, in: 4))
                    isConnected = false
                default:
                    if random.chance(1, in: 4) { path.attemptFails() } else if isConnected { path.close() }
                    if random.chance(1, in: 4) { path.search.attemptFailed() }
                    path.network = random.chance(3, in: 4) ? path.network : random.pick(Self.networks)
                    agreed = random.chance(1, in: 4) ? .seconds(1 + random.below(300)) : nil
                    path.serverKeepAlive = agreed
                    path.connect()
                    isConnected = true
                }
                try check(path, keepAlive, agreed, isConnected: isConnected, "seed \(seed): \(trail.joined())")
            }
        }
    }

    private func check(
        _ path: QuietPath, _ keepAlive: AdaptiveKeepAlive, _ agreed: Duration?, isConnected: Bool, _ trail: String
    ) throws {
        let room = agreed.map { $0 * 9 / 10 } ?? .seconds(1_000_000)
        try #require(path.interval <= min(keepAlive.maximumInterval, room), "\(trail)")
        try #require(path.interval >= min(keepAlive.minimumInterval, room), "\(trail)")
        try #require(isConnected || path.search.deadline == nil, "\(trail)")
        for finding in path.search.memory.findings {
            guard let failed = finding.failedInterval else { continue }
            let isAtMinimum = finding.interval <= keepAlive.minimumInterval
            try #require(finding.interval < failed || isAtMinimum, "\(trail)")
        }
        // An old finding may be tried again, but only in an interval that began after its retry time.
        guard isConnected, let finding = path.finding, let failed = finding.failedInterval,
            path.date.timeIntervalSince(finding.date) < 1, path.date >= finding.date
        else { return }
        try #require(path.interval < failed || path.interval <= keepAlive.minimumInterval, "\(trail)")
    }
}
