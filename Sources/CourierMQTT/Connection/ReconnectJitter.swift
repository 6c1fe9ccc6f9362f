/// The random part of the pause before a client connects again.
///
/// When a broker restarts, all its clients lose their connections at the same moment. Without a random part, all of
/// them also connect again at the same moment.
public enum ReconnectJitter: Hashable, Sendable, CaseIterable {
    /// The exact pause: 5, 10, 10 … seconds with the default intervals.
    case none

    /// Half of the pause, and a random part of the other half; the default. It spreads clients, and no client returns
    /// before half of its pause.
    case equal

    /// A random part of the pause. It spreads clients out most, and may give no pause at all.
    case full
}
