import CourierTransport
import MQTTEngine
import Synchronization

/// A pause of reading, because a reader is full. While an answer of the broker is awaited, the client reads a little now and then
/// (a *glance*), because the answer is behind unread messages and the reader may wait for it. A glance lasts until the reader is
/// full again. Silence counts during a glance, so that a dead connection ends.
struct ReadingPause {
    /// The time between two glances, 20 ms.
    static let interval = Duration.milliseconds(20)

    var isOn = false
    var isGlancing = false
    var timer: TimerToken?
}

extension SessionDriver {
    func beginPause() {
        state.pointee.pause.isOn = true
        state.pointee.pause.isGlancing = false
        planGlance()
    }

    func endPause() {
        if let timer = state.pointee.pause.timer { loop.cancel(timer) }
        state.pointee.pause = ReadingPause()
    }

    /// Schedules a glance, if an answer is awaited.
    func planGlance() {
        guard !state.pointee.pause.isGlancing, state.pointee.pause.timer == nil, awaitsAnswer else { return }
        state.pointee.pause.timer = loop.schedule(at: loop.now.advanced(by: ReadingPause.interval)) { [weak self] in
            self?.glance()
        }
    }

    private var awaitsAnswer: Bool {
        state.pointee.engine.isConnected
            && (state.pointee.engine.awaitsAnswers || awaitedMessages.load(ordering: .relaxed) > 0)
    }

    private func glance() {
        state.pointee.pause.timer = nil
        guard state.pointee.pause.isOn, awaitsAnswer else { return }
        state.pointee.pause.isGlancing = true
        state.pointee.channel?.resumeReading()
        tell { state, now in state.engine.setReadingPaused(false, now: now) }
        observer.glanceBegan()
    }
}
