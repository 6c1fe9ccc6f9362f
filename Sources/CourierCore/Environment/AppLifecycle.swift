/// Whether the app is in the foreground or in the background.
public enum AppPhase: Hashable, Sendable {
    /// The app is visible and in use.
    case foreground

    /// The app is hidden and may be suspended at any moment.
    case background
}

/// Reports to the client when the app enters the background or foreground.
///
/// Contract: The publisher sends the present phase to each new subscriber first, and then every change. It may send
/// from any thread. In the background, the client closes its connection with DISCONNECT. In the foreground, it connects
/// again if it has topics to subscribe to, or if `connect()` was called meanwhile. A program without phases sends only
/// ``AppPhase/foreground``.
public protocol AppLifecycle: Sendable {
    /// Publishes the present phase, then every change.
    var phasePublisher: AnyPublisher<AppPhase, Never> { get }
}
