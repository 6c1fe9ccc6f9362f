/// A dialer that an answer is for, if it is still there.
///
/// Safe to share: the reference is read after `init` only, on the dialer's loop.
final class WeakDialer<Dialer: AnyObject>: @unchecked Sendable {
    private(set) weak var dialer: Dialer?

    init(_ dialer: Dialer) { self.dialer = dialer }
}
