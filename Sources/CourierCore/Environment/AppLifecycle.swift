/// The phase of the app: in the foreground or in the background.
public enum AppPhase: Hashable, Sendable {
    /// The app is visible and in use.
    case foreground

    /// The app is hidden and may be suspended at any moment.
    case background
}

/// Reports to the client when the app enters the background or foreground.
///
/// Contract: The publisher sends the current phase to each new subscriber first, and then every change. It may send
/// from any thread. When the app enters the background, the client closes its connection with DISCONNECT. When the app
/// returns to the foreground, the client connects again if it has topics to subscribe to. It also connects again if
/// `connect()` was called in the background. A program that is always in the foreground sends only
/// ``AppPhase/foreground``.
public protocol AppLifecycle: Sendable {
    /// Publishes the current phase, then every change.
    var phasePublisher: AnyPublisher<AppPhase, Never> { get }
}
