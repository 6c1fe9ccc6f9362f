/// Simulates all clients with one policy in one scene, millisecond by millisecond.
struct Storm<Policy: ReconnectPolicy> {
    private let policy: Policy
    private let scene: Scene
    private var clients: [Policy.Client]
    private var random: JitterSource
    private var plan = Plan()
    private var backlogCount = 0
    private var backCount = 0
    private var lastOverloadSecond = -1
    private var outcome = Outcome()

    init(_ policy: Policy, _ scene: Scene, seed: UInt64) {
        self.policy = policy
        self.scene = scene
        random = JitterSource(seed: seed)
        clients = Array(repeating: policy.makeClient(), count: scene.clientCount)
    }

    /// Runs until all clients are connected, or until the scene ends.
    consuming func run() -> Outcome {
        outcome.returnIndex = scene.downTime / 100
        for client in 0..<scene.clientCount { wait(Int32(client), from: 0) }
        var arriving: [Int32] = []
        var now = 0
        while backCount < scene.clientCount, now < scene.end {
            if now % 100 == 0 { outcome.arrivals.append(0) }
            if now >= scene.downTime { accept(now) }
            arriving.removeAll(keepingCapacity: true)
            plan.remove(at: now, into: &arriving)
            outcome.arrivals[outcome.arrivals.count - 1] += arriving.count
            for client in arriving { arrive(client, now) }
            now += 1
        }
        return outcome
    }

    /// The broker accepts as many connections from the backlog as it can in this millisecond.
    private mutating func accept(_ now: Int) {
        let count = min(scene.acceptedPerMillisecond, backlogCount)
        backlogCount -= count
        backCount += count
        let time = now - scene.downTime
        if outcome.timeUntilHalf == nil, backCount * 2 >= scene.clientCount { outcome.timeUntilHalf = time }
        if outcome.timeUntil95 == nil, backCount * 20 >= scene.clientCount * 19 { outcome.timeUntil95 = time }
        if outcome.timeUntilAll == nil, backCount == scene.clientCount { outcome.timeUntilAll = time }
    }

    /// Handles an attempt that reaches the broker's machine. A client in the backlog will be accepted and needs no more
    /// events.
    private mutating func arrive(_ client: Int32, _ now: Int) {
        if now < scene.downTime {
            outcome.wastedWhileDown += 1
            wait(client, from: now + latency())
        } else if backlogCount < scene.backlog {
            backlogCount += 1
        } else {
            outcome.wastedAfterwards += 1
            if now / 1_000 != lastOverloadSecond {
                lastOverloadSecond = now / 1_000
                outcome.overloadSeconds += 1
            }
            switch scene.overflow {
            case .refuse: wait(client, from: now + latency())
            // The client's timeout began before the attempt arrived. The difference is too small to matter.
            case .silence: wait(client, from: now + scene.connectTimeout)
            }
        }
    }

    /// Plans the next attempt of a client that learns at `time` that its attempt failed.
    private mutating func wait(_ client: Int32, from time: Int) {
        let pause = policy.pause(of: &clients[Int(client)], using: &random)
        plan.add(client, at: time + pause + latency())
    }

    private mutating func latency() -> Int { Int.random(in: scene.latency, using: &random) }
}
