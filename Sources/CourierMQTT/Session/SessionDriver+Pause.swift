import CourierTransport
import MQTTEngine
import Synchronization

/// The state of a pause of reading from the socket. Reading pauses because a reader is full.
///
/// The reader may wait for an answer of the broker, and this answer is behind unread messages. So while an answer is
/// awaited, the client reads for a short time now and then (a *glance*). A glance lasts until the reader is full again.
/// The engine's timeouts run during a glance, so that a dead connection ends.
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
