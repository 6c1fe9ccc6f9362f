import CourierCore
import Testing

@testable import CourierMQTT

@Suite struct LivenessTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    /// Sends for 60 seconds without an expected answer, to a peer that answers probes or not. Returns the time when
    /// the connection counts as dead.
    private func lifeOfQuietSender(answersProbes: Bool) -> Double? {
        var liveness = Liveness(
            IdleActivityTimeoutPolicy(isEnabled: true), probeTimeout: .seconds(3), now: start)
        var time = 0.0
        while time < 60 {
            _ = liveness.sent(now: at(time))
            switch liveness.look(now: at(time)) {
            case .alive: break
            case .probe: if answersProbes { liveness.received(now: at(time + 0.05)) }
            case .dead: return time
            }
            time += 0.25
        }
        return nil
    }

    @Test func `a connection that only sends stays alive as long as its probes are answered`() {
        #expect(lifeOfQuietSender(answersProbes: true) == nil)
        #expect(lifeOfQuietSender(answersProbes: false) == 10)
    }

    @Test func `an idle connection is dead after the read timeout, not before`() {
        var liveness = Liveness(
            IdleActivityTimeoutPolicy(isEnabled: true), probeTimeout: .seconds(3), now: start)
        #expect(liveness.deadline == at(20))
        #expect(liveness.look(now: at(19.9)) == .alive)
        #expect(liveness.look(now: at(20)) == .probe)
        #expect(liveness.deadline == at(40))
        #expect(liveness.look(now: at(39.9)) == .alive)
        #expect(liveness.look(now: at(40)) == .dead(silentFor: .seconds(40)))
    }

    @Test
    func `if the process was stopped for a long time, the connection is probed before the connection counts as dead`() {
        var liveness = Liveness(
            IdleActivityTimeoutPolicy(isEnabled: true), probeTimeout: .seconds(3), now: start)
        _ = liveness.sent(now: at(1))
        #expect(liveness.look(now: at(1_000)) == .probe)
        #expect(liveness.look(now: at(1_002.9)) == .alive)
        #expect(liveness.deadline == at(1_003))
        #expect(liveness.look(now: at(1_003)) == .dead(silentFor: .seconds(1_003)))
    }

    @Test func `with the idle timeout disabled, only an explicit probe has a deadline`() {
        var liveness = Liveness(IdleActivityTimeoutPolicy(), probeTimeout: .seconds(3), now: start)
        #expect(liveness.sent(now: at(1)) == false)
        #expect(liveness.deadline == nil)
        liveness.probed(now: at(100))
        liveness.probed(now: at(102))
        #expect(liveness.deadline == at(103), "a second probe does not prolong the first")
        #expect(liveness.look(now: at(103)) == .dead(silentFor: .seconds(3)))
        liveness.received(now: at(103))
        #expect(liveness.deadline == nil)
        #expect(liveness.look(now: at(200)) == .alive)
    }

    @Test func `timeouts stop while reading is paused, and restart in full when reading resumes`() {
        var liveness = Liveness(
            IdleActivityTimeoutPolicy(isEnabled: true), probeTimeout: .seconds(3), now: start)
        _ = liveness.sent(now: at(1))
        #expect(liveness.look(now: at(6)) == .probe)
        liveness.setReadingPaused(true, now: at(7))
        #expect(liveness.sent(now: at(8)) == false)
        liveness.probed(now: at(9))
        #expect(liveness.deadline == nil)
        #expect(liveness.look(now: at(1_000)) == .alive)

        liveness.setReadingPaused(false, now: at(1_000))
        #expect(liveness.deadline == at(1_003), "the probe that could not be answered")
        var answered = liveness
        answered.received(now: at(1_001))
        #expect(answered.deadline == at(1_021))
        #expect(liveness.look(now: at(1_002.9)) == .alive)
        #expect(liveness.look(now: at(1_003)) == .dead(silentFor: .seconds(3)))
        #expect(liveness.lastInbound == nil, "a pause is no sign of life")
    }

    @Test
    func `if sent bytes have no answer after a reading pause, the connection is probed and later counts as dead`() {
        var liveness = Liveness(
            IdleActivityTimeoutPolicy(isEnabled: true), probeTimeout: .seconds(3), now: start)
        _ = liveness.sent(now: at(1))
        liveness.setReadingPaused(true, now: at(2))
        liveness.setReadingPaused(false, now: at(500))
        liveness.setReadingPaused(false, now: at(501))
        #expect(liveness.deadline == at(505))
        #expect(liveness.look(now: at(505)) == .probe)
        #expect(liveness.look(now: at(509.9)) == .alive)
        #expect(liveness.look(now: at(510)) == .dead(silentFor: .seconds(10)))
    }
}
