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

    /// How long somebody waits before the demo is taken to have failed. Everything that is waited for is told by
    /// ``changed()``; this limit is there only for what never comes, which no event can tell.
    private static let patience = Duration.seconds(30)

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// Something has changed that somebody may wait for.
    func changed() {
        let ready = waiters.filter { $0.condition() }
        waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Waits until `condition` holds; gives up when the patience is at its end.
    func wait(for what: String, until condition: @escaping () -> Bool) async throws {
        guard !condition() else { return }
        lastID += 1
        let id = lastID
        let alarm = Task {
            try await Task.sleep(for: Self.patience)
            guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
            waiters.remove(at: index).continuation.resume(returning: false)
        }
        defer { alarm.cancel() }
        let isThere = await withCheckedContinuation { continuation in
            waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
        }
        if !isThere { throw TooLate(description: "waited \(Screen.seconds(Self.patience)) in vain for \(what)") }
    }
}
