import CourierCore
import Synchronization

/// The event handlers of a client, held weakly and called on the delivery queue only.
final class EventHandlerList: Sendable {
    private struct WeakHandler {
        weak var handler: (any ICourierEventHandler)?
    }

    /// The handler is called on the delivery queue, which is the one place that ``Confined`` asks for; whether it is gone is
    /// asked elsewhere, too.
    private struct Entry {
        let id: ObjectIdentifier
        let box: Confined<WeakHandler>
    }

    private let entries = Mutex<[Entry]>([])

    init() {}

    /// Adds a handler unless it is there.
    func add(_ handler: any ICourierEventHandler) {
        let entry = Entry(id: ObjectIdentifier(handler), box: Confined(WeakHandler(handler: handler)))
        removeGone()
        entries.withLock { entries in
            // An entry of this id may be left from an object that is gone and had the same address.
            entries.removeAll { $0.id == entry.id }
            entries.append(entry)
        }
    }

    func remove(_ handler: any ICourierEventHandler) {
        let id = ObjectIdentifier(handler)
        entries.withLock { entries in entries.removeAll { $0.id == id } }
    }

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// Forgets the handlers that are gone.
    func removeGone() {
        // Looked at without the lock: the last reference to a handler may be the one that is made for that.
        let gone = entries.withLock { $0 }.filter { $0.box.use { $0.handler == nil } }
        guard !gone.isEmpty else { return }
        entries.withLock { entries in entries.removeAll { entry in gone.contains { $0.box === entry.box } } }
    }

    /// On the delivery queue.
    func tell(_ event: CourierEvent) { forEach { $0.onEvent(event) } }

    /// On the delivery queue.
    func reset() { forEach { $0.reset() } }

    private func forEach(_ body: (any ICourierEventHandler) -> Void) {
        var isOneGone = false
        for entry in entries.withLock({ $0 }) where isPresent(entry.id) {
            entry.box.use {
                guard let handler = $0.handler else {
                    isOneGone = true
                    return
                }
                body(handler)
            }
        }
        if isOneGone { removeGone() }
    }

    /// A handler that was removed by one that was called before it is not called any more.
    private func isPresent(_ id: ObjectIdentifier) -> Bool { entries.withLock { $0.contains { $0.id == id } } }
}
