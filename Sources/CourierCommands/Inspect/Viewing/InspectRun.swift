import CourierMQTTChuck
import Dispatch
import Foundation
import Glibc

/// Shows a recording on the terminal until its user has seen enough.
///
/// Everything happens on the main queue, which the main thread runs meanwhile: the model of the view belongs there.
@MainActor final class InspectRun {
    /// How many packets can be scrolled through; beyond, a filter finds them.
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

    /// Runs to the end; on the main thread.
    ///
    /// - Parameters:
    ///   - recording: What is shown.
    ///   - name: What it is called.
    ///   - query: What is shown of it at first.
    ///   - console: The terminal.
    /// - Returns: The exit code.
    /// - Throws: That the terminal cannot be used.
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
        let screen = TerminalScreen(console, on: .main) { [weak self] event in
            MainActor.assumeIsolated { self?.happened(event) }
        }
        do { try screen.open() } catch {
            outcome = .failure(error)
            return
        }
        self.screen = screen
        signals = SignalWatch([SIGINT, SIGTERM, SIGHUP], on: .main) { [weak self] number in
            MainActor.assumeIsolated { self?.end(ExitCode.signal(number)) }
        }
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
