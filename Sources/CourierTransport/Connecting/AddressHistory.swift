/// Remembers the addresses that failed recently, so that the next connection tries the other addresses first.
///
/// A client shares one history among all its connections. Only host names with several addresses are recorded.
///
/// Safe to share: only the client's loop uses it.
package final class AddressHistory: @unchecked Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The time after which a failure is forgotten, because the machine may be on another network by then.
    static let memory = Duration.seconds(600)
    /// The maximum number of remembered failures. A further failure replaces the oldest failure.
    static let limit = 16

    private struct Failure {
        let address: SocketAddress
        let at: Instant
    }

    /// The remembered failures, oldest first.
    private var failures: [Failure] = []
    /// The address of the last connection; `nil` after its result was recorded or a new attempt has begun.
    private var present: SocketAddress?

    package init() {}

    /// True if the history holds no address.
    package var isEmpty: Bool { failures.isEmpty && present == nil }

    /// Returns `addresses` in a new order: the failed addresses are last. If all addresses have failed, forgets their
    /// failures and keeps the order.
    func sorted(_ addresses: [SocketAddress], now: Instant) -> [SocketAddress] {
        failures.removeAll { $0.at.duration(to: now) >= Self.memory }
        let fresh = addresses.filter { !hasFailed($0) }
        guard fresh.isEmpty else { return fresh + addresses.filter(hasFailed) }
        failures.removeAll { failure in addresses.contains { $0.bytes == failure.address.bytes } }
        return addresses
    }

    /// Forgets the address of the last connection, because a new attempt begins. If the new attempt fails before it
    /// tries an address, this failure must not be recorded for the old address.
    package func attemptBegins() { present = nil }

    /// Records the address of a new connection. With a proxy, records the address that was requested from the proxy,
    /// even before the proxy has answered.
    func reached(_ address: SocketAddress) { present = address }

    /// Records that `address` did not answer, or answered later than another address.
    func failed(_ address: SocketAddress, now: Instant) {
        failures.removeAll { $0.address.bytes == address.bytes }
        failures.append(Failure(address: address, at: now))
        if failures.count > Self.limit { failures.removeFirst() }
    }

    /// Records that the last connection failed or was lost.
    package func presentFailed(now: ContinuousClock.Instant) {
        guard let present else { return }
        self.present = nil
        failed(present, now: now)
    }

    /// Records that the last connection works, and forgets earlier failures of its address.
    package func presentServed() {
        guard let present else { return }
        failures.removeAll { $0.address.bytes == present.bytes }
    }

    private func hasFailed(_ address: SocketAddress) -> Bool {
        failures.contains { $0.address.bytes == address.bytes }
    }
}
