/// A weak reference to a dialer that waits for the answer to its look-up.
///
/// Safe to share: after `init`, only the dialer's loop reads the reference.
final class WeakDialer<Dialer: AnyObject>: @unchecked Sendable {
    private(set) weak var dialer: Dialer?

    init(_ dialer: Dialer) { self.dialer = dialer }
}
