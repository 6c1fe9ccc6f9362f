/// Names one look-up that was asked for, to give it up.
package struct LookUpTicket: Sendable {
    private let resolver: HostResolver
    private let number: UInt64

    init(_ resolver: HostResolver, _ number: UInt64) {
        self.resolver = resolver
        self.number = number
    }

    /// Gives the look-up up: one that has not begun is not done and has no answer. One that is under way cannot be
    /// interrupted, and its answer comes. From any thread.
    package func cancel() { resolver.cancel(number) }
}
