import CourierCore
import Synchronization

/// The packet observer of one client, and the client's number for it.
///
/// A class, so that a client without an observer needs no memory for it.
final class ClientObserver: Sendable {
    /// The number of observed clients in this process.
    private static let count = Atomic<UInt64>(0)

    let observer: any PacketObserver
    /// The client's number, unique in this process.
    let clientNumber: UInt64

    init(_ observer: any PacketObserver) {
        self.observer = observer
        clientNumber = ClientObserver.count.add(1, ordering: .relaxed).newValue
    }
}
