/// Identifies one requested look-up, so that it can be cancelled.
package struct LookUpTicket: Sendable {
    private let resolver: HostResolver
    private let number: UInt64

    init(_ resolver: HostResolver, _ number: UInt64) {
        self.resolver = resolver
        self.number = number
    }

    /// Cancels the look-up if it has not begun; its `answer` closure is then never called. A running look-up cannot be
    /// interrupted, so its `answer` closure is still called. May be called from any thread.
    package func cancel() { resolver.cancel(number) }
}
