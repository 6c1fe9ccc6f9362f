import CourierCore
import Synchronization

/// Who sees the packets of one client, and the number by which it knows the client.
///
/// A class, so that a client without an observer has no room for them.
final class ClientObserver: Sendable {
    /// Of this process.
    private static let count = Atomic<UInt64>(0)

    let observer: any PacketObserver
    /// Different for every client of this process.
    let clientNumber: UInt64

    init(_ observer: any PacketObserver) {
        self.observer = observer
        clientNumber = ClientObserver.count.add(1, ordering: .relaxed).newValue
    }
}
