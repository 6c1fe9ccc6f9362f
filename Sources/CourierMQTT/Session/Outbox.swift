import MQTTEngine
import Synchronization

/// What callers on any thread have handed over and the loop has not taken yet.
///
/// Callers append under a short lock; the loop takes all of it at once by exchanging arrays, so that memory is reused and
/// one wake-up, one pass of the engine and one write serve however many messages came together.
struct Outbox: ~Copyable {
    struct Contents {
        var messages: [OutgoingMessage] = []
        /// Whether the loop knows that there is something, so that nobody needs to tell it.
        var isScheduled = false
        /// Whether somebody was told that it is full and is to be told when it is not.
        var isFull = false
    }

    /// What a caller learns.
    enum Answer: Equatable {
        /// Taken.
        case taken(wakesLoop: Bool)
        /// Not taken: the limit is reached.
        case full
    }

    private let contents = Mutex(Contents())
    /// How many messages wait at most.
    let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    /// Hands `message` over.
    borrowing func append(_ message: OutgoingMessage) -> Answer {
        contents.withLock { contents in
            guard contents.messages.count < limit else {
                contents.isFull = true
                return .full
            }
            contents.messages.append(message)
            defer { contents.isScheduled = true }
            return .taken(wakesLoop: !contents.isScheduled)
        }
    }

    /// Takes what is there in exchange for `spent`, which must be empty; says whether the outbox had been full.
    borrowing func exchange(_ spent: inout [OutgoingMessage]) -> (isEmpty: Bool, wasFull: Bool) {
        contents.withLock { contents in
            let wasFull = contents.isFull
            contents.isFull = false
            if contents.messages.isEmpty {
                contents.isScheduled = false
                return (true, wasFull)
            }
            swap(&contents.messages, &spent)
            return (false, wasFull)
        }
    }
}
