public import CourierCore

/// The lifecycle of a program without phases: it is in the foreground as long as it runs.
public struct AlwaysForeground: AppLifecycle {
    // One for all, so that no subscription ends because a lifecycle is dropped.
    private static let subject = CurrentValueSubject<AppPhase, Never>(.foreground)

    /// Makes such a lifecycle; all are alike.
    public init() {}

    /// ``AppPhase/foreground``, and nothing more.
    public var phasePublisher: AnyPublisher<AppPhase, Never> { Self.subject.eraseToAnyPublisher() }
}
