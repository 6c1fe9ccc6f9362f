import Synchronization

extension Mutex {
    /// Returns the stored part. The first call makes the part with `make`, and stores it.
    func part<Part: Sendable>(orMake make: () -> Part) -> Part where Value == Part? {
        withLock { part in
            let present = part ?? make()
            part = present
            return present
        }
    }
}
