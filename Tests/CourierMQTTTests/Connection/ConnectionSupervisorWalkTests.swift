import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// Rules that hold for every sequence of inputs. All short sequences are tested, and random long sequences.
@Suite struct ConnectionSupervisorWalkTests {
    /// The inputs of a sequence.
    private enum Move: String, CaseIterable {
        case connect, disconnect, destroy
        case grant, grantShort, denyLater, denyNow, answerLate
        case connectSent, accept, acceptOld
        case drop, refuseCredentials, ban, takeOver, moveServer, switchVersion, openFails
        case networkGone, networkBack, background, foreground, topics, noTopics, resume
        case timer, tick, receive, send, pauseReading, resumeReading
    }

    /// Passes an input to the supervisor. Returns `false` if this input is impossible in the present state.
    private func play(_ move: Move, _ world: inout SupervisorHarness) -> Bool {
        switch move {
        case .connect: world.handle(.connectRequested(source: "walk"))
        case .disconnect: world.handle(.disconnectRequested)
        case .destroy: world.handle(.destroyRequested)
        case .grant, .grantShort, .denyLater, .denyNow:
            guard world.fetch != nil else { return false }
            switch move {
            case .grant: world.grant()
            case .grantShort: world.grant(expiresIn: 45)
            case .denyLater: world.deny(AuthError.httpError(statusCode: 403))
            default: world.deny(AuthError.otherError(NSErrorOfNetwork.error))
            }
        case .answerLate:
            guard world.fetch == nil, world.lastAttempt.number > 0 else { return false }
            world.grant()
        case .connectSent, .accept, .acceptOld, .drop, .refuseCredentials, .ban, .takeOver, .moveServer,
            .switchVersion, .openFails:
            guard world.isOpen else { return false }
            switch move {
            case .connectSent: world.handle(.connectSent)
            case .accept: world.accept(.v5)
            case .acceptOld: world.accept(.v311)
            case .drop: world.drop()
            case .refuseCredentials: world.refuse(.badUserNameOrPassword)
            case .ban: world.refuse(.banned)
            case .takeOver: world.disconnectedByServer(.sessionTakenOver)
            case .moveServer: world.refuse(.serverMoved, [.serverReference("other")])
            case .switchVersion: world.handle(.closed(.versionNotSupported(next: .v311), .closedByPeer))
            default:
                guard case .opening = world.supervisor.phase else { return false }
                world.handle(.openFailed(world.lastAttempt, CourierError(.invalidConfiguration, "no")))
            }
        case .networkGone: world.handle(.networkChanged(.unavailable))
        case .networkBack: world.handle(.networkChanged(.available))
        case .background: world.handle(.phaseChanged(.background))
        case .foreground: world.handle(.phaseChanged(.foreground))
        case .topics: world.handle(.topicsChanged(areWanted: true))
        case .noTopics: world.handle(.topicsChanged(areWanted: false))
        case .resume: world.handle(.resumedFromSuspend)
        case .timer:
            guard world.supervisor.deadline != nil else { return false }
            world.fireTimer()
        case .tick:
            world.wait(1.5)
            world.handle(.timerFired)
        case .receive: world.bytesReceived()
        case .send: world.bytesSent()
        case .pauseReading, .resumeReading:
            guard world.isOpen else { return false }
            world.setReadingPaused(move == .pauseReading)
        }
        return true
    }

    /// Disconnects the client, and expects that the client is at rest without open requests.
    private func settle(_ world: SupervisorHarness, _ note: @autoclosure () -> String) {
        var world = world
        world.handle(.disconnectRequested)
        if world.isOpen { world.closeEnds() }
        let isAtRest = if case .resting = world.supervisor.phase { true } else { false }
        guard isAtRest, world.faults.isEmpty, world.grammar.violations.isEmpty, world.grammar.openStarts.isEmpty,
            world.fetch == nil
        else {
            #expect(isAtRest, "\(note())")
            #expect(world.grammar.openStarts == [], "\(note())")
            #expect(world.fetch == nil, "\(note())")
            world.expectNoFaults(note())
            return
        }
    }

    private func configured(_ seed: UInt64 = 1) -> SupervisorHarness {
        SupervisorHarness(seed: seed) {
            $0.authenticationTimeout = .seconds(7)
            $0.connectTimeout.isEnabled = true
            $0.idleActivityTimeout.isEnabled = true
            $0.jitter = .equal
        }
    }

    /// A world in each phase. All short sequences begin with these worlds.
    private var starts: [(name: String, world: SupervisorHarness)] {
        func after(_ moves: Move...) -> SupervisorHarness {
            var world = configured()
            for move in moves { #expect(play(move, &world), "\(move) in a start") }
            return world
        }
        return [
            ("resting", after()),
            ("authenticating", after(.connect)),
            ("waiting for the provider", after(.connect, .denyLater)),
            ("opening", after(.connect, .grant)),
            ("waiting", after(.connect, .grant, .drop)),
            ("connected", after(.connect, .grant, .accept)),
            ("renewing", after(.connect, .grantShort, .accept, .receive, .timer, .receive, .timer)),
            ("closing", after(.connect, .grant, .accept, .disconnect)),
            ("aborting", after(.connect, .grant, .timer)),
            ("paused", after(.connect, .grant, .accept, .topics, .background, .drop)),
            ("offline", after(.connect, .grant, .accept, .networkGone, .drop)),
            ("taken over", after(.connect, .grant, .accept, .takeOver)),
            ("twice dropped", after(.connect, .grant, .acceptOld, .drop, .timer, .acceptOld, .drop, .timer)),
            ("stopped", after(.connect, .grant, .ban)),
        ]
    }

    @Test func `the supervisor's invariants hold for every sequence of three inputs from every phase`() {
        for (name, world) in starts { explore(world, [], depth: 3, name) }
    }

    private func explore(_ world: SupervisorHarness, _ path: [Move], depth: Int, _ name: String) {
        settle(world, "\(name): \(path.map(\.rawValue))")
        guard depth > 0 else { return }
        for move in Move.allCases {
            var next = world
            guard play(move, &next) else { continue }
            explore(next, path + [move], depth: depth - 1, name)
        }
    }

    @Test func `the supervisor's invariants hold for random sequences of inputs`() {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            var world = configured(seed)
            var path: [Move] = []
            for _ in 0..<200 {
                guard let move = Move.allCases.randomElement(using: &random), play(move, &world) else { continue }
                path.append(move)
                guard world.faults.isEmpty, world.grammar.violations.isEmpty else { break }
            }
            settle(world, "seed \(seed): \(path.map(\.rawValue))")
        }
    }

    @Test func `after connect(), the client reaches the connected state from every phase`() {
        for (name, world) in starts {
            for move in Move.allCases {
                var next = world
                guard play(move, &next) else { continue }
                next.handle(.phaseChanged(.foreground))
                next.handle(.networkChanged(.available))
                next.handle(.connectRequested(source: "app"))
                var steps = 0
                while next.supervisor.state != .connected, steps < 12 {
                    steps += 1
                    switch next.supervisor.phase {
                    case .closing: next.closeEnds()
                    case .authenticating: next.grant()
                    case .locating: next.handle(.endpointsFound(next.lastAttempt, .found([])))
                    case .opening: next.accept()
                    case .waiting: next.fireTimer()
                    case .resting, .paused, .connected: break
                    }
                }
                #expect(next.supervisor.state == .connected, "\(name), \(move)")
            }
        }
    }
}

private enum NSErrorOfNetwork {
    static var error: NSError { NSError(domain: NSURLErrorDomain, code: -1009) }
}
