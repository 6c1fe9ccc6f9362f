import Synchronization

/// A list of recorded elements, in order. One task at a time can wait for more elements.
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

    /// Waits until `condition` is true for the recorded elements, and returns them.
    ///
    /// - Throws: `CancellationError` if the conversation takes too long.
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

    /// Waits for `count` elements, and returns the first `count`.
    func first(_ count: Int) async throws -> [Element] {
        Array(try await wait { $0.count >= count }.prefix(count))
    }
}
