import Synchronization

extension Mutex {
    /// The part, which is made at its first use.
    func part<Part: Sendable>(orMake make: () -> Part) -> Part where Value == Part? {
        withLock { part in
            let present = part ?? make()
            part = present
            return present
        }
    }
}
