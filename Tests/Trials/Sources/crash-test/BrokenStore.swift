import CourierCore
import CourierSQLite

/// A store with a planted mistake.
struct BrokenStore: ForwardingStore {
    enum Mistake: Sendable {
        /// Does not store the progress of a message, so the next process sends it as a new message.
        case forgetsProgress
        /// Does not store new messages and never reports a result, so no message is ever accepted.
        case ignoresNewMessages
        /// Reports that new jobs are stored, and does not store them. So a message is acknowledged before it is stored.
        case forgetsJobs
        /// Does not remove the job of a handled message, so the next process handles the message again.
        case keepsHandledJobs
    }

    let store: any MessageStore
    private let mistake: Mistake

    init(_ store: SQLiteMessageStore, _ mistake: Mistake) {
        self.store = store
        self.mistake = mistake
    }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        if mistake == .ignoresNewMessages, changes.contains(where: isForgotten) { return }
        store.commit(changes.filter { !isForgotten($0) }, in: scope, completion: completion)
    }

    /// Returns true for a change that this store does not store.
    private func isForgotten(_ change: StoreChange) -> Bool {
        switch (mistake, change) {
        case (.forgetsProgress, .progress), (.ignoresNewMessages, .enqueue), (.forgetsJobs, .addJob),
            (.keepsHandledJobs, .removeJob):
            true
        default: false
        }
    }
}
