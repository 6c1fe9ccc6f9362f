import Dispatch
import Foundation

/// One line on a terminal that says how far the sending of lines has come.
///
/// Safe to share: everything that changes is touched on the command's queue only.
final class ProgressLine: @unchecked Sendable {
    /// How often it is drawn.
    static let interval = Duration.milliseconds(200)

    private let console: Console
    private let size: Int?
    private let started = ContinuousClock.now
    private let timer: any DispatchSourceTimer
    private var counts = LineWindow.Counts()
    private var isDrawn = false
    private var hasEnded = false

    /// Draws from now on; `size` is that of the whole input in bytes, where it is known.
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

    /// Draws it a last time and leaves it there; nothing when it was never drawn.
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

    /// The line, without its place on the terminal.
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
