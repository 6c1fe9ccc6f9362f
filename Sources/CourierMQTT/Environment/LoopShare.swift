import CourierTransport
import Synchronization

/// Objects that all clients of a loop share: one for each loop, which lives as long as a client references it.
final class LoopShare<Part: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var part: Part?
    }

    private let parts = Mutex<[ObjectIdentifier: Reference]>([:])

    init() {}

    /// Returns the shared object of `loop`. If there is none, `make` creates it; that object must retain the loop and
    /// call ``ended(on:)`` in its deinit.
    func part(of loop: EventLoop, _ make: () -> Part) -> Part {
        parts.withLock { parts in
            if let present = parts[ObjectIdentifier(loop)]?.part { return present }
            let made = make()
            parts[ObjectIdentifier(loop)] = Reference(part: made)
            return made
        }
    }

    /// Forgets the shared object of `loop`, which is being released.
    func ended(on loop: EventLoop) {
        let key = ObjectIdentifier(loop)
        let other = parts.withLock { parts -> Part? in
            let present = parts[key]?.part
            if present == nil { parts[key] = nil }
            return present
        }
        // A newer object may be released here. Its deinit takes the lock, so it must not be held.
        withExtendedLifetime(other) {}
    }
}
