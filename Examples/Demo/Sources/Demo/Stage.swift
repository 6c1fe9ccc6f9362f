import CourierCore

/// Where the demo waits for what its clients tell.
@MainActor final class Stage {
    struct TooLate: Error, CustomStringConvertible {
        let description: String
    }

    private struct Waiter {
        let id: Int
        let condition: () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// Something has changed that somebody may wait for.
    func changed() {
        let ready = waiters.filter { $0.condition() }
        waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Waits until `condition` holds; gives up after 30 s.
    func wait(for what: String, until condition: @escaping () -> Bool) async throws {
        guard !condition() else { return }
        lastID += 1
        let id = lastID
        let alarm = Task {
            try await Task.sleep(for: .seconds(30))
            guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
            waiters.remove(at: index).continuation.resume(returning: false)
        }
        defer { alarm.cancel() }
        let isThere = await withCheckedContinuation { continuation in
            waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
        }
        if !isThere { throw TooLate(description: "waited 30 s in vain for \(what)") }
    }
}
