import CourierTransport
import Synchronization

/// What all clients of a loop have in common, one for each loop, as long as one of them holds it.
final class LoopShare<Part: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var part: Part?
    }

    private let parts = Mutex<[ObjectIdentifier: Reference]>([:])

    init() {}

    /// The part of `loop`; made by `make` if there is none, which must keep the loop and call ``ended(on:)`` at its end.
    func part(of loop: EventLoop, _ make: () -> Part) -> Part {
        parts.withLock { parts in
            if let present = parts[ObjectIdentifier(loop)]?.part { return present }
            let made = make()
            parts[ObjectIdentifier(loop)] = Reference(part: made)
            return made
        }
    }

    /// The part of `loop` is gone.
    func ended(on loop: EventLoop) {
        let key = ObjectIdentifier(loop)
        let other = parts.withLock { parts -> Part? in
            let present = parts[key]?.part
            if present == nil { parts[key] = nil }
            return present
        }
        // Another that has come in its place may end here, which needs the lock.
        withExtendedLifetime(other) {}
    }
}
