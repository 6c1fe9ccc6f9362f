import CourierCore
import Foundation
import TrialSupport

/// Plants broken promises, and checks that the judges report each of them.
struct SelfTest {
    private struct Case {
        let name: String
        let qos: QoS
        /// True if the lane must report a violation.
        let isBroken: Bool
        let story: (Lane, Outages) -> Void
    }

    /// A case for the judges of a whole run.
    private struct Story {
        let name: String
        /// True if a violation must be reported.
        let isBroken: Bool
        let happens: (Verdict) async -> Void
    }

    /// The releases of the only reader of these lanes.
    private let releases = Releases()

    /// Runs all cases, and returns the names of the cases that were judged wrongly.
    func failures() async -> [String] {
        var failures = cases.filter { one in
            let verdict = Verdict(seed: 0, isQuiet: true)
            let outages = Outages()
            let lane = Lane(
                "a lane", id: 0, qos: one.qos,
                readers: [Lane.Reader(name: "a reader", index: 0, releases: releases, links: LinkHistory())],
                outages: outages, verdict: verdict)
            one.story(lane, outages)
            lane.settle(isOver: true)
            return (verdict.violationCount > 0) != one.isBroken
        }.map(\.name)
        for story in stories {
            let verdict = Verdict(seed: 0, isQuiet: true)
            await story.happens(verdict)
            if (verdict.violationCount > 0) != story.isBroken { failures.append(story.name) }
        }
        return failures
    }

    var count: Int { cases.count + stories.count }

    private var stories: [Story] { floorStories + memoryStories + eventStories + awaitStories }

    private var cases: [Case] {
        let receipt = Lane.End.receipt(.success)
        return [
            Case(name: "all arrive", qos: .two, isBroken: false) { lane, _ in
                for _ in 0..<3 { send(lane, receipt) }
            },
            Case(name: "one is lost", qos: .one, isBroken: true) { lane, _ in lane.ended(lane.publishing(), receipt) },
            Case(name: "QoS 0 is lost", qos: .zero, isBroken: false) { lane, _ in
                lane.ended(lane.publishing(), receipt)
            },
            Case(name: "QoS 1 comes twice", qos: .one, isBroken: false) { lane, _ in arrive(lane, send(lane, receipt))
            },
            Case(name: "QoS 0 comes twice", qos: .zero, isBroken: true) { lane, _ in arrive(lane, send(lane, receipt))
            },
            Case(name: "QoS 2 comes twice", qos: .two, isBroken: true) { lane, _ in arrive(lane, send(lane, receipt)) },
            Case(name: "QoS 2 comes twice over a stop without a release", qos: .two, isBroken: true) { lane, outages in
                let number = send(lane, receipt)
                outage(.stop, outages)
                arrive(lane, number)
            },
            Case(name: "QoS 2 comes twice over a stop that broke a release", qos: .two, isBroken: false) {
                lane, outages in
                releases.released(7)
                let number = send(lane, receipt)
                outage(.stop, outages)
                arrive(lane, number)
            },
            Case(name: "two change places", qos: .one, isBroken: true) { lane, _ in
                let numbers = [lane.publishing(), lane.publishing()]
                for number in numbers.reversed() { arrive(lane, number) }
                for number in numbers { lane.ended(number, receipt) }
            },
            Case(name: "a publish never ends", qos: .one, isBroken: true) { lane, _ in arrive(lane, lane.publishing())
            },
            Case(name: "a publish ends twice", qos: .one, isBroken: true) { lane, _ in
                lane.ended(send(lane, receipt), receipt)
            },
            Case(name: "QoS 1 fails without a kill", qos: .one, isBroken: true) { lane, outages in
                let number = lane.publishing()
                outage(.stop, outages)
                lane.ended(number, .failure(CourierError(.connectionLost, "lost")))
            },
            Case(name: "QoS 2 fails over a kill", qos: .two, isBroken: false) { lane, outages in
                let number = lane.publishing()
                outage(.kill, outages, lane)
                lane.ended(number, .failure(CourierError(.connectionLost, "lost")))
            },
            Case(name: "a kill takes one along", qos: .two, isBroken: false) { lane, outages in
                lane.ended(lane.publishing(), receipt)
                outage(.kill, outages, lane)
            },
            Case(name: "one before an arrival is lost, then a kill", qos: .two, isBroken: true) { lane, outages in
                lane.ended(lane.publishing(), receipt)
                send(lane, receipt)
                outage(.kill, outages, lane)
            },
            Case(name: "one is lost after a kill", qos: .two, isBroken: true) { lane, outages in
                outage(.kill, outages, lane)
                lane.ended(lane.publishing(), receipt)
            },
        ]
    }

    /// Publishes a message that arrives and ends with `end`.
    @discardableResult
    private func send(_ lane: Lane, _ end: Lane.End) -> Int {
        let number = lane.publishing()
        arrive(lane, number)
        lane.ended(number, end)
        return number
    }

    private func arrive(_ lane: Lane, _ number: Int) {
        lane.arrived(number, at: 0, Message(data: Data(), topic: "a", qos: lane.qos, packetID: 7))
    }

    private func outage(_ kind: Outage.Kind, _ outages: Outages, _ lane: Lane? = nil) {
        lane?.broke(outage: outages.all.count)
        outages.begin(kind)
        outages.end()
        outages.recovered()
    }
}

// MARK: - Floors

extension SelfTest {
    /// The counts of a minute at a tenth of the usual speed.
    private static var slowMinute: Floors.Seen {
        var counts = Lane.Counts()
        counts.acknowledged = 1_500
        counts.received = 2_000
        return Floors.Seen(
            cuts: 20, reconnects: 30, outages: 2, traffic: [.zero: counts, .one: counts, .two: counts])
    }

    private static func minute(without what: String, _ change: @escaping (inout Floors.Seen) -> Void) -> Story {
        Story(name: "a minute without \(what)", isBroken: true) { verdict in
            var seen = slowMinute
            change(&seen)
            Floors(seconds: 60).judge(seen, verdict)
        }
    }

    private var floorStories: [Story] {
        [
            Story(name: "a minute of a slow machine", isBroken: false) { verdict in
                Floors(seconds: 60).judge(Self.slowMinute, verdict)
            },
            Story(name: "a run too short to see anything", isBroken: false) { verdict in
                Floors(seconds: 20).judge(Floors.Seen(), verdict)
            },
            Self.minute(without: "a cut") { $0.cuts = 0 },
            Self.minute(without: "a reconnect") { $0.reconnects = 0 },
            Self.minute(without: "an outage") { $0.outages = 0 },
            Self.minute(without: "QoS 0") { $0.traffic[.zero] = nil },
            Self.minute(without: "QoS 1") { $0.traffic[.one] = nil },
            Self.minute(without: "QoS 2") { $0.traffic[.two] = nil },
            Self.minute(without: "most of QoS 0") { $0.traffic[.zero]?.acknowledged = 20_000 },
        ]
    }
}

// MARK: - Memory

extension SelfTest {
    private var memoryStories: [Story] {
        let level = 60 << 20
        return [
            Story(name: "memory grows to a level", isBroken: false) { verdict in
                ResidentMemory(samples: (0..<90).map { min($0, 30) << 20 }).judge(verdict)
            },
            Story(name: "memory grows by a mebibyte a second", isBroken: true) { verdict in
                ResidentMemory(samples: (0..<90).map { level + ($0 << 20) }).judge(verdict)
            },
            Story(name: "lists have grown to their size", isBroken: false) { verdict in
                HeapGrowth(bytes: HeapGrowth.allowedBytes, messages: 200_000).judge(verdict)
            },
            Story(name: "each message leaves a block behind", isBroken: true) { verdict in
                HeapGrowth(bytes: 96 * 1_000_000, messages: 1_000_000).judge(verdict)
            },
        ]
    }
}

// MARK: - Events and awaits

extension SelfTest {
    /// Returns a story: a client reports `events` and comes to rest, and its readers received `read` messages.
    private static func life(
        _ name: String, isBroken: Bool, read: Int = 0, _ events: [CourierEventType]
    ) -> Story {
        Story(name: name, isBroken: isBroken) { verdict in
            let record = EventRecord("a client", verdict)
            for event in events { record.onEvent(CourierEvent(connectionInfo: nil, type: event)) }
            record.judgeRest(read: read)
        }
    }

    private var eventStories: [Story] {
        let connecting: [CourierEventType] = [
            .connectionAttempt, .connectedPacketSent, .connectionSuccess(timeTaken: 1),
        ]
        let message = CourierEventType.messageReceive(topic: "a", sizeBytes: 1)
        let quietLife: [CourierEventType] = connecting + [.connectionDisconnect]
        let life: [CourierEventType] = connecting + [message, .connectionDisconnect]
        return [
            Self.life("a client gets a message", isBroken: false, read: 1, life),
            Self.life("no reader got a message", isBroken: true, read: 0, life),
            Self.life("no event told of a message", isBroken: true, read: 1, quietLife),
            Self.life("a message comes without a connection", isBroken: true, read: 1, [message]),
            Self.life("a connection comes without an attempt", isBroken: true, Array(quietLife.dropFirst(2))),
            Self.life("a connection has no end", isBroken: true, connecting),
            Self.life("a message has no end", isBroken: true, [.messageSend(topic: "a", qos: .one, sizeBytes: 1)]),
        ]
    }

    private var awaitStories: [Story] {
        [
            Story(name: "an await has ended", isBroken: false) { verdict in
                let awaits = OpenAwaits()
                await awaits.track("an await") {}
                awaits.judge(verdict)
            },
            Story(name: "an await has not ended", isBroken: true) { verdict in
                let awaits = OpenAwaits()
                await awaits.track("an await") { awaits.judge(verdict) }
            },
        ]
    }
}
