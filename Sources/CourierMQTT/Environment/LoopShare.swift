import CourierTransport
import Synchronization

/// Stores one object for each event loop. All clients of an event loop share its object. The object lives as long as a
/// client references it.
final class LoopShare<Part: AnyObject & Sendable>: Sendable {
    /// A weak reference to a shared object.
    private struct Reference: Sendable {
        weak var part: Part?
    }

    private let parts = Mutex<[ObjectIdentifier: Reference]>([:])

    init() {}

    /// Returns the shared object of `loop`. If there is no such object, `make` creates it. The created object must
    /// retain the loop, and call ``ended(on:)`` in its deinit.
    func part(of loop: EventLoop, _ make: () -> Part) -> Part {
        parts.withLock { parts in
            if let present = parts[ObjectIdentifier(loop)]?.part { return present }
            let made = make()
            parts[ObjectIdentifier(loop)] = Reference(part: made)
            return made
        }
    }

    /// Removes the entry of a shared object that is being released, unless `loop` has a newer object.
    func ended(on loop: EventLoop) {
        let key = ObjectIdentifier(loop)
        let other = parts.withLock { parts -> Part? in
            let present = parts[key]?.part
            if present == nil { parts[key] = nil }
            return present
        }
        // Release the newer object only here, after the lock was released, because the deinit of that object takes the
        // lock.
        withExtendedLifetime(other) {}
    }
}
