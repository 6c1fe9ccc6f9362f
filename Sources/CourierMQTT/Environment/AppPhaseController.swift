public import CourierCore

/// The phase of an app, set by the app itself, for systems that do not report the phase.
///
/// ```swift
/// let phases = AppPhaseController()
/// config.environment.lifecycle = phases
/// // When the window is hidden, and when it is shown again:
/// phases.enterBackground()
/// phases.enterForeground()
/// ```
///
/// Any thread may use the controller. Entering the current phase again sends nothing.
public final class AppPhaseController: AppLifecycle {
    private let subject: CurrentValueSubject<AppPhase, Never>

    /// Makes a controller with an initial phase.
    ///
    /// - Parameter phase: The initial phase; the foreground by default.
    public init(_ phase: AppPhase = .foreground) { subject = CurrentValueSubject(phase) }

    /// The phase that was entered last.
    public var phase: AppPhase { subject.value }

    /// Sends the current phase to each new subscriber, then every change. A change is sent on the thread that enters
    /// the phase.
    public var phasePublisher: AnyPublisher<AppPhase, Never> { subject.eraseToAnyPublisher().removeDuplicates() }

    /// Reports that the app is hidden. The clients that use this controller close their connections with DISCONNECT.
    public func enterBackground() { subject.send(.background) }

    /// Reports that the app is shown. The clients that use this controller connect again if they have topics to
    /// subscribe to, or if `connect()` was called in the background.
    public func enterForeground() { subject.send(.foreground) }
}
