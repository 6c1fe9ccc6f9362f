import Synchronization

/// What happened so far, in order, for one task at a time to wait for more of it.
final class Record<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init() {
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) {
        elements.withLock { $0.append(element) }
        changed.yield()
    }

    /// Returns what happened once `condition` holds for it.
    ///
    /// - Throws: `CancellationError` when the conversation has lasted too long.
    @discardableResult
    func wait(until condition: ([Element]) -> Bool) async throws -> [Element] {
        var present = all
        if condition(present) { return present }
        for await _ in changes {
            present = all
            if condition(present) { return present }
        }
        throw CancellationError()
    }

    /// Returns the first `count` once there are as many.
    func first(_ count: Int) async throws -> [Element] {
        Array(try await wait { $0.count >= count }.prefix(count))
    }
}
