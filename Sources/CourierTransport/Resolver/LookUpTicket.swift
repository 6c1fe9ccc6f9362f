/// Identifies one requested look-up, so that it can be canceled.
package struct LookUpTicket: Sendable {
    private let resolver: HostResolver
    private let number: UInt64

    init(_ resolver: HostResolver, _ number: UInt64) {
        self.resolver = resolver
        self.number = number
    }

    /// Cancels the look-up if it has not begun; then its answer is never called. A running look-up cannot be
    /// interrupted, and its answer is still called. May be called from any thread.
    package func cancel() { resolver.cancel(number) }
}
