import CourierCore
import Synchronization

/// The results of `enqueue` in a walk, by the numbers of the messages.
final class WalkEnqueued: Sendable {
    private let messages = Mutex<[Int: EnqueuedMessage]>([:])

    /// The numbers of the messages, sorted.
    var numbers: [Int] { messages.withLock { $0.keys.sorted() } }

    subscript(number: Int) -> EnqueuedMessage? {
        get { messages.withLock { $0[number] } }
        set { messages.withLock { $0[number] = newValue } }
    }
}
