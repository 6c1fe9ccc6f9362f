import CourierCore
import Foundation
import TrialSupport

/// Runs writers and readers on a cluster, while one node after the other is killed and started again.
struct ClusterRun {
    /// How long accepted messages may take to arrive after all nodes are running again.
    private static let patience = Duration.seconds(120)
    /// The time from one kill to the next.
    private static let pace = Duration.seconds(20)
    /// How long a killed node stays down.
    private static let absence = Duration.seconds(4)
    /// The time between two checks for missing messages.
    private static let look = Duration.milliseconds(100)
    private static let laneCount = 6

    let seconds: Int
    let seed: UInt64

    /// Returns true if no message was lost. Prints the results.
    func run() async throws -> Bool {
        let cluster = try RabbitCluster()
        defer { cluster.end() }
        say("cluster-test: seed \(seed); starting three nodes")
        try await cluster.start()
        // RabbitMQ does not support QoS 2: it acknowledges such messages as QoS 1.
        let ports = cluster.nodes.map(\.port)
        let lanes = (0..<Self.laneCount).map { ClusterLane($0, qos: $0 == 0 ? .two : .one, ports: ports) }
        var readings: [Task<Void, any Error>] = []
        for lane in lanes { readings.append(try await lane.begin()) }
        let kills = try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in lanes { group.addTask { await lane.write() } }
            let kills = try await killNodes(of: cluster)
            for lane in lanes { lane.stop() }
            try await group.waitForAll()
            return kills
        }
        let end = ContinuousClock.now + Self.patience
        while lanes.contains(where: { !$0.missing.isEmpty }), .now < end {
            try await Task.sleep(for: Self.look)  // Polls, because readers report no event.
        }
        let isGood = report(lanes, kills)
        for reading in readings { reading.cancel() }
        for lane in lanes { lane.end() }
        return isGood
    }

    private func killNodes(of cluster: RabbitCluster) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        let end = ContinuousClock.now + .seconds(seconds)
        var kills = 0
        while .now < end {
            let next = ContinuousClock.now + Self.pace
            let node = cluster.nodes[random.below(cluster.nodes.count)]
            node.kill()
            kills += 1
            try await Task.sleep(for: Self.absence)
            try await cluster.restart(node)
            try await Task.sleep(until: next)
        }
        return kills
    }

    private func report(_ lanes: [ClusterLane], _ kills: Int) -> Bool {
        var isGood = true
        for lane in lanes where !lane.missing.isEmpty {
            isGood = false
            say("cluster-test: LOST on lane \(lane.index): \(lane.missing.prefix(10)), \(lane.missing.count) in all")
        }
        let figures = lanes.map(\.figures)
        let readers = lanes.map(\.readerEvents.figures)
        let writers = lanes.map(\.writerEvents.figures)
        let outages = (readers + writers).flatMap(\.outages).sorted()
        func sum(_ values: [Int]) -> Int { values.reduce(0, +) }
        for refusal in figures.flatMap(\.refused).prefix(5) { say("cluster-test: refused \(refusal)") }
        say(
            """
            cluster-test: \(kills) kills in \(seconds) s; \(sum(figures.map(\.accepted))) messages accepted, \
            \(sum(lanes.map(\.missing.count))) lost, \(sum(figures.map(\.arrivedTwice))) arrived more than once, \
            \(sum(figures.map(\.outOfOrder))) after a newer one, \(sum(figures.map(\.refused.count))) refused
            cluster-test: \(sum((readers + writers).map(\.connections))) connections, \(outages.count) outages\
            \(Self.spread(outages)); of \(sum(readers.map(\.connections))) connections of readers \
            \(sum(readers.map(\.subscribes))) had to subscribe anew
            cluster-test: QoS 2 was taken as QoS 1 on \(sum(writers.map(\.downgrades))) connections, told once on each
            """)
        let hasDowngrade = writers.contains { $0.downgrades > 0 }
        if !hasDowngrade { say("cluster-test: no event told that QoS 2 was taken as QoS 1") }
        return isGood && hasDowngrade
    }

    private static func spread(_ sorted: [Duration]) -> String {
        guard let longest = sorted.last else { return "" }
        func text(_ duration: Duration) -> String { String(format: "%.2f s", duration / .seconds(1)) }
        return " (median \(text(sorted[sorted.count / 2])), longest \(text(longest)))"
    }
}
