import Dispatch
import Foundation

/// A line on a terminal that shows the progress of sending lines.
///
/// Safe to share: mutable state is used only on the command's queue.
final class ProgressLine: @unchecked Sendable {
    /// The time between two updates.
    static let interval = Duration.milliseconds(200)

    private let console: Console
    private let size: Int?
    private let started = ContinuousClock.now
    private let timer: any DispatchSourceTimer
    private var counts = LineWindow.Counts()
    private var isDrawn = false
    private var hasEnded = false

    /// Starts drawing. `size` is the size of the whole input in bytes, if known.
    init(_ console: Console, size: Int?, on queue: DispatchQueue) {
        self.console = console
        self.size = size
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + Self.interval.seconds, repeating: Self.interval.seconds)
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.resume()
    }

    deinit { timer.cancel() }

    func update(_ counts: LineWindow.Counts) { self.counts = counts }

    /// Draws the line a last time and leaves it visible. Does nothing if the line was never drawn.
    func end(_ counts: LineWindow.Counts? = nil) {
        guard !hasEnded else { return }
        hasEnded = true
        timer.cancel()
        if let counts { self.counts = counts }
        if isDrawn { console.writeToErrors(text + "\n") }
    }

    private func draw() {
        isDrawn = true
        console.draw(text)
    }

    private var text: String { Self.text(counts, size: size, after: started.duration(to: .now)) }

    /// Returns the text of the line, without terminal control sequences.
    static func text(_ counts: LineWindow.Counts, size: Int?, after time: Duration) -> String {
        let rate = time > .zero ? Double(counts.answered) / time.seconds : 0
        var text = "\(counts.sent) sent, \(counts.answered) acknowledged, \(Int(rate)) messages/s"
        if let size, size > 0 {
            let done = min(1, Double(counts.bytesRead) / Double(size))
            text += ", \(Int(done * 100)) %"
            if done > 0 { text += ", \(Int((time.seconds / done - time.seconds).rounded(.up))) s left" }
        }
        return text
    }
}
