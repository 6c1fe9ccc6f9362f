/// The random part of the pause before a client connects again.
///
/// When a broker restarts, all its clients lose their connections at the same moment. Without a random part, all of
/// them also connect again at the same moment.
public enum ReconnectJitter: Hashable, Sendable, CaseIterable {
    /// The client waits exactly the pause: 5, 10, 10 … seconds with the default intervals.
    case none

    /// The client waits half of the pause, and a random part of the other half. This is the default. Clients reconnect
    /// at different times, and no client reconnects before half of its pause.
    case equal

    /// The client waits a random part of the pause, which may be 0. The clients' attempts are spread over the longest
    /// time.
    case full
}
