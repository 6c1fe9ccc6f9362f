import CourierCore
import Synchronization

/// The packet observer of one client, and the number that identifies the client to the observer.
///
/// The type is a class, so that a client without an observer stores only a `nil` reference.
final class ClientObserver: Sendable {
    /// Counts the clients of this process that have an observer.
    private static let count = Atomic<UInt64>(0)

    let observer: any PacketObserver
    /// The client's number, unique in this process.
    let clientNumber: UInt64

    init(_ observer: any PacketObserver) {
        self.observer = observer
        clientNumber = ClientObserver.count.add(1, ordering: .relaxed).newValue
    }
}
