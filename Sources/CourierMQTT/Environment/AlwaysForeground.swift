public import CourierCore

/// The lifecycle of a program that is in the foreground as long as it runs.
public struct AlwaysForeground: AppLifecycle {
    // All instances share the subject, so that a subscription does not end when its instance is released.
    private static let subject = CurrentValueSubject<AppPhase, Never>(.foreground)

    /// Makes a lifecycle that is always in the foreground.
    public init() {}

    /// Sends ``AppPhase/foreground`` once.
    public var phasePublisher: AnyPublisher<AppPhase, Never> { Self.subject.eraseToAnyPublisher() }
}
