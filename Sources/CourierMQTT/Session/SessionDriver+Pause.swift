import CourierTransport
import MQTTEngine
import Synchronization

/// The state of a pause in reading from the socket. The client pauses reading, for example, while the queue of a reader
/// is full.
///
/// The app may wait for the broker's answer to a request before it reads further messages. This answer arrives after
/// the unread messages. So while the client awaits an answer, it interrupts the pause regularly, and reads for a short
/// time. Each of these interruptions is a *glance*. A glance ends when the reader's queue is full again. The engine's
/// timeouts run during a glance, so that the client notices a dead connection.
struct ReadingPause {
    /// The time from the beginning of a pause, or from the end of a glance, to the next glance: 20 ms. During a glance,
    /// the client reads for a short time.
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

    /// Schedules the next glance, a short time of reading within the pause, if the client awaits an answer. Does
    /// nothing if a glance is running or scheduled.
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

    /// Pauses or resumes reading. During a pause, the broker cannot send more messages, so that messages for a slow
    /// reader do not fill the memory. Reading is not paused before CONNACK.
    package func setReadingPaused(_ isPaused: Bool) {
        tell { state, now in state.engine.setReadingPaused(isPaused, now: now) }
        if !isPaused {
            endPause()
            state.pointee.channel?.resumeReading()
        } else if state.pointee.engine.isConnected {
            beginPause()
            state.pointee.channel?.pauseReading()
        }
    }

    /// True while the observer has paused reading. Stays true during a glance, which is a short time of reading within
    /// a pause.
    package var isReadingPaused: Bool {
        loop.preconditionOnLoop()
        return state.pointee.pause.isOn || state.pointee.channel?.isPaused == true
    }

    /// True while reading is paused and no glance is running. Received bytes then stay in the system's buffers.
    package var isReadingHalted: Bool {
        loop.preconditionOnLoop()
        return state.pointee.pause.isOn && !state.pointee.pause.isGlancing
    }
}
