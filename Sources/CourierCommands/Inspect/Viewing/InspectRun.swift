import CourierMQTTChuck
import Dispatch
import Foundation

/// Shows a recording on the terminal until the user quits.
///
/// All work happens on the main queue, because the view model belongs to the main actor. `run` processes that queue.
@MainActor final class InspectRun {
    /// The maximum number of packets in the list. Older packets can be found with a filter.
    static let shownRows = 20_000

    private let console: Console
    private let recording: Recording
    private var view: InspectorView
    private var screen: TerminalScreen?
    private var signals: SignalWatch?
    private var outcome: Result<Int32, any Error>?

    private init(_ recording: Recording, _ name: String, _ query: MQTTChuckQuery, _ console: Console) {
        self.console = console
        self.recording = recording
        let model = MQTTChuckViewModel(recording.logger, maximumRows: Self.shownRows)
        if !query.isEmpty { model.search(query.text) }
        view = InspectorView(model, name: name, isFollowing: recording.isFollowed)
    }

    /// Shows the recording until the user quits. Must be called on the main thread.
    ///
    /// - Parameters:
    ///   - recording: The recording to show.
    ///   - name: The name of the recording in the header.
    ///   - query: The query that filters the list at first.
    ///   - console: The console whose input and output are the terminal.
    /// - Returns: The exit code.
    /// - Throws: An error if the terminal cannot be used.
    static func run(
        _ recording: Recording, name: String, query: MQTTChuckQuery, _ console: Console
    ) throws -> Int32 {
        let run = InspectRun(recording, name, query, console)
        DispatchQueue.main.async { MainActor.assumeIsolated { run.begin() } }
        while true {
            if let outcome = run.outcome { return try outcome.get() }
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
    }

    private func begin() {
        // The signals are watched before the screen opens. Otherwise, an early signal could end the program without
        // restoring the terminal modes.
        signals = SignalWatch(SystemSignal.endings + [SystemSignal.hangUp], on: .main) { [weak self] number in
            MainActor.assumeIsolated { self?.end(ExitCode.signal(number)) }
        }
        let screen = TerminalScreen(console, on: .main) { [weak self] event in
            MainActor.assumeIsolated { self?.happened(event) }
        }
        do { try screen.open() } catch {
            outcome = .failure(error)
            return
        }
        self.screen = screen
        recording.follow { [weak self] in
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    self?.view.recorded()
                    self?.draw()
                }
            }
        }
        view.resized(screen.size)
        draw()
    }

    private func happened(_ event: TerminalScreen.Event) {
        switch event {
        case .resized(let size): view.resized(size)
        case .hungUp: return end(ExitCode.success)
        case .keys(let keys):
            for key in keys {
                switch view.pressed(key) {
                case .none: break
                case .end: return end(ExitCode.success)
                case .suspend: screen?.suspend()
                case .drawAnew: screen?.forget()
                }
            }
        }
        draw()
    }

    private func draw() { screen?.show(view.frame()) }

    private func end(_ code: Int32) {
        guard outcome == nil, let screen else { return }
        self.screen = nil
        recording.stopFollowing()
        screen.close { MainActor.assumeIsolated { self.outcome = .success(code) } }
    }
}
