import MQTTCodec
import MQTTEngine
import Synchronization

/// What callers on any thread have handed over and the loop has not taken yet.
///
/// Callers copy a message's bytes in under a short lock; the loop takes all of it at once by exchanging batches, so that
/// memory is reused, nothing that is reference-counted crosses threads, and one wake-up, one pass of the engine and one
/// write serve however many messages came together.
struct Outbox: ~Copyable {
    struct Contents: ~Copyable {
        var messages = MessageBatch()
        /// Whether the loop knows that there is something, so that nobody needs to tell it.
        var isScheduled = false
        /// Whether somebody was told that it is full and is to be told when it is not.
        var isFull = false
        /// Of which session messages are taken.
        var session = 0
    }

    /// What a caller learns.
    enum Answer: Equatable {
        /// Taken.
        case taken(wakesLoop: Bool)
        /// Not taken: the limit is reached.
        case full
        /// Not taken: it is of another session.
        case foreign
    }

    private let contents = Mutex(Contents())
    /// How many messages wait at most.
    let limit: Int
    /// From how many waiting bytes on nothing more is taken; one message of any size is taken when none waits.
    let byteLimit: Int

    init(limit: Int, byteLimit: Int) {
        self.limit = max(limit, 1)
        self.byteLimit = max(byteLimit, 1)
    }

    /// Takes messages of this session only from now on, and of session 0 at first.
    borrowing func begin(_ session: Int) { contents.withLock { $0.session = session } }

    /// Hands a message of these parts over.
    borrowing func append(
        _ header: OutgoingHeader, topic: String, payload: RawSpan, properties: PacketProperties, of session: Int
    ) -> Answer {
        contents.withLock { contents in
            guard contents.session == session else { return .foreign }
            guard contents.messages.count < limit, contents.messages.byteCount < byteLimit else {
                contents.isFull = true
                return .full
            }
            contents.messages.append(header, topic: topic, payload: payload, properties: properties)
            defer { contents.isScheduled = true }
            return .taken(wakesLoop: !contents.isScheduled)
        }
    }

    /// Takes what is there in exchange for `spent`, which must be empty; says whether the outbox had been full.
    borrowing func exchange(_ spent: inout MessageBatch) -> (isEmpty: Bool, wasFull: Bool) {
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

    /// Gives back memory of more than `limit` bytes if nothing waits.
    borrowing func trim(above limit: Int) { contents.withLock { $0.messages.trim(above: limit) } }
}
