/// Whether the person sees the app.
public enum AppPhase: Hashable, Sendable {
    /// The app is in use.
    case foreground

    /// The app is hidden and may be suspended at any moment.
    case background
}

/// Reports to the client when the app enters the background or foreground.
///
/// Contract. The publisher gives the present phase to each new subscriber first, and then changes only, from any
/// thread. In the background the client closes its connection in order; in the foreground it connects again when the
/// app wants messages. A program without phases says ``AppPhase/foreground`` and nothing more.
public protocol AppLifecycle: Sendable {
    /// The present phase, then every change.
    var phasePublisher: AnyPublisher<AppPhase, Never> { get }
}
