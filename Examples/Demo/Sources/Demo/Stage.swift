import CourierCore

/// Lets the demo wait until its clients have reached a state.
@MainActor final class Stage {
    struct TooLate: Error, CustomStringConvertible {
        let description: String
    }

    private struct Waiter {
        let id: Int
        let condition: () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// The time limit of a wait, after which the demo has failed. Normally ``changed()`` ends a wait. The limit is
    /// needed because a missing event cannot be reported.
    private static let patience = Duration.seconds(30)

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// Checks the conditions of all waiters again. Called after each change of a client's state.
    func changed() {
        let ready = waiters.filter { $0.condition() }
        waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Waits until `condition` is true. Throws when the time limit has passed.
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
