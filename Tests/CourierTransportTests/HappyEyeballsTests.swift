import TestSupport
import Testing

@testable import CourierTransport

@Suite struct HappyEyeballsTests {
    private let start = ContinuousClock.now
    private let delay = Duration.milliseconds(250)

    @Test func `IPv6 and IPv4 addresses alternate, starting with the family of the first address`() {
        #expect(HappyEyeballs.order([.ipv6, .ipv6, .ipv6, .ipv4, .ipv4]) == [0, 3, 1, 4, 2])
        #expect(HappyEyeballs.order([.ipv4, .ipv4, .ipv6]) == [0, 2, 1])
        #expect(HappyEyeballs.order([.ipv4]) == [0])
        #expect(HappyEyeballs.order([]) == [])
    }

    @Test func `the attempt at the second address starts when the attempt delay has passed`() {
        var race = HappyEyeballs(count: 2, attemptDelay: delay)
        #expect(race.begin(now: start) == .start(0))
        #expect(race.deadline == start + delay)
        #expect(race.timerFired(now: start + delay - .nanoseconds(1)) == .none)
        #expect(race.timerFired(now: start + delay) == .start(1))
        #expect(race.deadline == nil)
    }

    @Test func `if the attempt at one address fails, the attempt at the next address starts at once`() {
        var race = HappyEyeballs(count: 3, attemptDelay: delay)
        #expect(race.begin(now: start) == .start(0))
        let failed = start + .milliseconds(10)
        #expect(race.failed(0, now: failed) == .start(1))
        #expect(race.deadline == failed + delay)
    }

    @Test func `the first successful connection attempt is used, and no other attempt starts afterwards`() {
        var race = HappyEyeballs(count: 3, attemptDelay: delay)
        #expect(race.begin(now: start) == .start(0))
        #expect(race.timerFired(now: start + delay) == .start(1))
        #expect(race.succeeded(1) == .win(1))
        #expect(race.deadline == nil)
        #expect(race.succeeded(0) == .none)
        #expect(race.failed(0, now: start + delay) == .none)
        #expect(race.timerFired(now: start + delay * 9) == .none)
    }

    @Test func `connecting fails only after the attempts at all addresses have failed`() {
        var race = HappyEyeballs(count: 2, attemptDelay: delay)
        #expect(race.begin(now: start) == .start(0))
        #expect(race.timerFired(now: start + delay) == .start(1))
        #expect(race.failed(1, now: start + delay) == .none)
        #expect(race.failed(1, now: start + delay) == .none)
        #expect(race.failed(0, now: start + delay) == .fail)
        #expect(race.failed(0, now: start + delay) == .none)
    }

    @Test func `connecting fails at once if the host has no addresses`() {
        var race = HappyEyeballs(count: 0, attemptDelay: delay)
        #expect(race.begin(now: start) == .fail)
    }

    @Test func `an attempt delay below the minimum is raised to the minimum`() {
        var race = HappyEyeballs(count: 2, attemptDelay: .zero)
        _ = race.begin(now: start)
        #expect(race.deadline == start + HappyEyeballs.minimumAttemptDelay)
    }

    @Test(arguments: 0..<200)
    func `HappyEyeballs reports exactly one result: success if the attempt at any address succeeds`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...6, using: &random)
        var race = HappyEyeballs(count: count, attemptDelay: delay)
        var now = start
        var running: Set<Int> = []
        var started: Set<Int> = []
        var ends = 0
        func perform(_ action: HappyEyeballs.Action) {
            switch action {
            case .none: break
            case .start(let number):
                #expect(ends == 0 && started.insert(number).inserted)
                running.insert(number)
            case .win(let number):
                #expect(running.contains(number))
                ends += 1
            case .fail:
                #expect(running.isEmpty && started.count == count)
                ends += 1
            }
        }
        perform(race.begin(now: now))
        while ends == 0 {
            if Bool.random(using: &random), let deadline = race.deadline {
                now = deadline
                perform(race.timerFired(now: now))
            } else if let number = running.sorted().randomElement(using: &random) {
                if Int.random(in: 0..<5, using: &random) == 0 {
                    perform(race.succeeded(number))
                } else {
                    running.remove(number)
                    perform(race.failed(number, now: now))
                }
            }
        }
        #expect(ends == 1, "seed \(seed)")
    }
}
