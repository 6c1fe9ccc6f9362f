import CourierCore
import Foundation
import TrialSupport

/// Breaks promises on purpose, and checks that each is reported.
struct SelfTest {
    private struct Story {
        let name: String
        var qos = QoS.two
        /// The kind of finding that the ledger must report; `nil` if none.
        let found: Findings.Kind?
        let happens: (Scene) -> Void
    }

    /// The objects that a story uses.
    private struct Scene {
        let ledger: LaneLedger
        let releases = Releases()
        let outages = Outages()
        let findings = Findings(isQuiet: true)

        init(_ qos: QoS) {
            ledger = LaneLedger(
                Lane.of(.up, client: 0, writer: 0, qos), releases: releases, outages: outages, findings: findings)
        }

        func expect(_ life: Int, _ index: Int) { ledger.expect(MessageNumber(life: life, index: index)) }

        /// Notes the arrival of a message in one life of the receiver.
        func arrive(_ sender: Int, _ index: Int, life: Int = 0, packetID: UInt16? = 7, isDone: Bool = true) {
            let arrival = LaneLedger.Arrival(at: .now, packetID: packetID, life: life, isDone: isDone)
            ledger.arrived(MessageNumber(life: sender, index: index), arrival)
        }

        /// Notes that a message was accepted and has arrived.
        func send(_ life: Int, _ index: Int) {
            expect(life, index)
            arrive(life, index)
        }

        func restartBroker() {
            outages.begin(.stop)
            outages.end()
        }
    }

    /// The number of kills in each real run.
    private static let kills = 8

    /// Returns the names of the stories that were judged wrongly.
    func failures() async throws -> [String] {
        var failures = stories.filter { story in
            let scene = Scene(story.qos)
            story.happens(scene)
            scene.ledger.judge()
            return Findings.Kind.allCases.contains { scene.findings[$0] != ($0 == story.found ? 1 : 0) }
        }.map(\.name)
        if try await find(.lost, with: .memory) == 0 { failures.append("a store that dies with its process") }
        if try await find(.doubled, with: .forgetful) == 0 { failures.append("a store that forgets packet ids") }
        if try await find(.other, with: .mute) == 0 { failures.append("a store that accepts nothing") }
        return failures
    }

    /// Runs a short test with a broken store, and returns the number of findings of a kind.
    private func find(_ kind: Findings.Kind, with store: StoreKind) async throws -> Int {
        let run = try await CrashRun(
            CrashRun.Settings(
                seconds: 60, kills: Self.kills, seed: 7, store: store, patience: .seconds(3), isQuiet: true))
        _ = try await run.run()
        run.clean()
        return run.findings[kind]
    }

    /// Returns a story: a run with this many kills and these counts of messages.
    private func run(_ name: String, kills: Int, expected: Int, arrived: Int, found: Findings.Kind?) -> Story {
        Story(name: name, found: found) { scene in
            let counts = LaneLedger.Counts(expected: expected, arrived: arrived)
            Floors(kills: kills).judge(counts, of: "messages", scene.findings)
        }
    }

    private var stories: [Story] {
        [
            Story(name: "all arrive", found: nil) { scene in for index in 0..<3 { scene.send(0, index) } },
            Story(name: "one is lost", found: .lost) { scene in
                scene.send(0, 0)
                scene.expect(0, 1)
            },
            Story(name: "QoS 1 comes twice", qos: .one, found: nil) { scene in
                scene.send(0, 0)
                scene.arrive(0, 0)
            },
            Story(name: "QoS 2 comes twice", found: .doubled) { scene in
                scene.send(0, 0)
                scene.arrive(0, 0)
            },
            Story(name: "QoS 2 comes again after a kill in the middle of its processing", found: nil) { scene in
                scene.expect(0, 0)
                scene.arrive(0, 0, life: 4, isDone: false)
                scene.arrive(0, 0, life: 5)
            },
            Story(name: "QoS 2 comes again in the same life", found: .doubled) { scene in
                scene.expect(0, 0)
                scene.arrive(0, 0, life: 4, isDone: false)
                scene.arrive(0, 0, life: 4)
            },
            Story(name: "QoS 2 comes again after it was done and the process was killed", found: .doubled) { scene in
                scene.expect(0, 0)
                scene.arrive(0, 0, life: 4, isDone: false)
                scene.ledger.done(MessageNumber(life: 0, index: 0), life: 4)
                scene.arrive(0, 0, life: 5)
            },
            Story(name: "QoS 2 comes twice over a stop of the broker without a release", found: .doubled) { scene in
                scene.send(0, 0)
                scene.restartBroker()
                scene.arrive(0, 0)
            },
            Story(name: "QoS 2 comes twice over a stop of the broker that broke a release", found: nil) { scene in
                scene.releases.released(7)
                scene.send(0, 0)
                scene.restartBroker()
                scene.arrive(0, 0)
            },
            Story(name: "QoS 2 comes twice over such a stop, and out of the store", found: nil) { scene in
                scene.releases.released(7)
                scene.expect(0, 0)
                scene.restartBroker()
                scene.arrive(0, 0, packetID: nil)
                scene.arrive(0, 0)
            },
            Story(name: "QoS 2 comes out of the store twice", found: .doubled) { scene in
                scene.expect(0, 0)
                scene.arrive(0, 0, life: 3, packetID: nil)
                scene.arrive(0, 0, life: 4, packetID: nil)
            },
            Story(name: "two change places", qos: .one, found: .disordered) { scene in
                scene.send(0, 1)
                scene.send(0, 0)
            },
            Story(name: "an earlier life's message comes behind a later one's", found: .disordered) { scene in
                scene.send(1, 0)
                scene.send(0, 0)
            },
            Story(name: "the last one before a kill arrives unconfirmed", found: nil) { scene in
                scene.send(0, 0)
                scene.arrive(0, 1)
                scene.send(1, 0)
            },
            Story(name: "one that nobody accepted arrives", found: .other) { scene in
                scene.send(0, 0)
                scene.arrive(0, 2)
            },
            Story(name: "a message is refused", found: .other) { scene in
                scene.ledger.refused(MessageNumber(life: 0, index: 0), "full")
            },
            run("a run on a very slow machine", kills: 15, expected: 15, arrived: 15, found: nil),
            run("a run that is too short to say anything", kills: 4, expected: 0, arrived: 0, found: nil),
            run("a run in which nothing is accepted", kills: 15, expected: 0, arrived: 0, found: .other),
            run("a run in which nothing arrives", kills: 15, expected: 900, arrived: 0, found: .other),
        ]
    }
}
