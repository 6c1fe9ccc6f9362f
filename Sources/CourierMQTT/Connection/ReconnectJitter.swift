/// The random part of the pause before a client connects again.
///
/// When a broker restarts, all its clients lose their connections at the same moment. Without a random part, all of
/// them also connect again at the same moment. Jitter also applies to the pause after another client has taken over the
/// session. The return of the network does not end this pause. The pauses of 1, 2 and 4 s after errors of the provider
/// are exact.
public enum ReconnectJitter: Hashable, Sendable, CaseIterable {
    /// The client waits exactly the pause: 5, 10, 10 … seconds with the default intervals.
    case none

    /// The client waits half of the pause, and a random part of the other half. This is the default. Clients reconnect
    /// at different times, and no client reconnects before half of its pause.
    case equal

    /// The client waits a random part of the pause, which may be 0. The attempts of many clients are spread over a
    /// longer time than with ``equal``.
    case full
}
