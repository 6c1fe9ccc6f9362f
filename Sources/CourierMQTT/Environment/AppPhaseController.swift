public import CourierCore

/// The phase of an app, set by the app itself, for systems that do not report it.
///
/// ```swift
/// let phases = AppPhaseController()
/// config.environment.lifecycle = phases
/// // When the window is hidden, and when it is shown again:
/// phases.enterBackground()
/// phases.enterForeground()
/// ```
///
/// Any thread may call it. Entering the present phase again sends nothing.
public final class AppPhaseController: AppLifecycle {
    private let subject: CurrentValueSubject<AppPhase, Never>

    /// Makes a controller with its first phase.
    ///
    /// - Parameter phase: The first phase; the foreground by default.
    public init(_ phase: AppPhase = .foreground) { subject = CurrentValueSubject(phase) }

    /// The phase that was entered last.
    public var phase: AppPhase { subject.value }

    /// The present phase, then every change, on the thread that enters it.
    public var phasePublisher: AnyPublisher<AppPhase, Never> { subject.eraseToAnyPublisher().removeDuplicates() }

    /// The app is hidden: its clients close their connections in order.
    public func enterBackground() { subject.send(.background) }

    /// The app is shown: its clients connect again when they want messages.
    public func enterForeground() { subject.send(.foreground) }
}
