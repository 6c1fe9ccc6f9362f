import CourierTransport
import MQTTEngine
import Synchronization

/// Reading that stands still because a reader has enough, but for a glance now and then while an answer is awaited: it lies
/// behind what is not read, and the reader may be a caller that waits for it. A glance lasts until the observer has enough again.
/// Meanwhile silence counts, so that a dead connection ends.
struct ReadingPause {
    /// How long what has come waits for the next glance, 20 ms.
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

    /// Looks what has come in a moment, if an answer may be among it.
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
