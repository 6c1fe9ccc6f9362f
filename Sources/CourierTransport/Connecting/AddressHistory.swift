/// Which of a host's addresses led nowhere lately, so that the next connection tries the others first.
///
/// One client has one, and gives it to each of its connections. Only names with several addresses leave anything in it.
///
/// Safe to share: it is touched on the loop of the client only.
package final class AddressHistory: @unchecked Sendable {
    typealias Instant = ContinuousClock.Instant

    /// After how long a failure is forgotten: the network may be another one by then.
    static let memory = Duration.seconds(600)
    /// How many failures are remembered; of more, the latest.
    static let limit = 16

    private struct Failure {
        let address: SocketAddress
        let at: Instant
    }

    /// The longest ago first.
    private var failures: [Failure] = []
    /// Where the last connection leads to.
    private var present: SocketAddress?

    package init() {}

    /// Whether there is nothing that a new history would not know.
    package var isEmpty: Bool { failures.isEmpty && present == nil }

    /// The same addresses, those that failed behind the others; once all have failed, they begin anew.
    func sorted(_ addresses: [SocketAddress], now: Instant) -> [SocketAddress] {
        failures.removeAll { $0.at.duration(to: now) >= Self.memory }
        let fresh = addresses.filter { !hasFailed($0) }
        guard fresh.isEmpty else { return fresh + addresses.filter(hasFailed) }
        failures.removeAll { failure in addresses.contains { $0.bytes == failure.address.bytes } }
        return addresses
    }

    /// Another attempt begins: what becomes of it says nothing of where the last connection led to, even if it never
    /// gets as far as an address.
    package func attemptBegins() { present = nil }

    /// A connection to `address` is there, or all that is missing is the answer of a proxy that was asked for one.
    func reached(_ address: SocketAddress) { present = address }

    /// Nobody answers at `address`, or later than at another one.
    func failed(_ address: SocketAddress, now: Instant) {
        failures.removeAll { $0.address.bytes == address.bytes }
        failures.append(Failure(address: address, at: now))
        if failures.count > Self.limit { failures.removeFirst() }
    }

    /// The connection that was reached last has come to nothing, or was lost.
    package func presentFailed(now: ContinuousClock.Instant) {
        guard let present else { return }
        self.present = nil
        failed(present, now: now)
    }

    /// The connection that was reached last is good for what it was made for.
    package func presentServed() {
        guard let present else { return }
        failures.removeAll { $0.address.bytes == present.bytes }
    }

    private func hasFailed(_ address: SocketAddress) -> Bool {
        failures.contains { $0.address.bytes == address.bytes }
    }
}
