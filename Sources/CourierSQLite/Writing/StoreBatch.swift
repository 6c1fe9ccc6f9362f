import CourierCore

/// The changes of one commit and its completion, while they wait to be written.
struct StoreBatch: Sendable {
    let changes: [StoreChange]
    let scope: StoreScope
    /// The maximum number of rows and bytes that the batch adds.
    let growth: StoreSize
    /// True if a power cut may lose this batch, because the client then only repeats a step of a delivery. The store
    /// does not sync the disk for such a batch alone.
    let isRepeatable: Bool
    /// The error of a batch that must fail without being written; `nil` if the batch can be written.
    let refusal: CourierError?
    let completion: @Sendable (Result<Void, CourierError>) -> Void

    init(
        _ changes: [StoreChange], _ scope: StoreScope, isRepeatable: Bool = false,
        _ completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        self.changes = changes
        self.scope = scope
        self.isRepeatable = isRepeatable
        self.completion = completion
        growth = StoreSize(addedBy: changes)
        refusal = Self.hasRoomForIDs(changes) ? nil : Self.idTooHigh
    }

    private init(refused batch: StoreBatch, _ refusal: CourierError) {
        (changes, scope, growth, isRepeatable) = ([], batch.scope, StoreSize(), true)
        (self.refusal, completion) = (refusal, batch.completion)
    }

    /// Returns a batch without changes that fails with `error`. The completion of the batch is still called in the
    /// order of the batches.
    func refused(_ error: CourierError) -> StoreBatch { StoreBatch(refused: self, error) }

    private static func hasRoomForIDs(_ changes: [StoreChange]) -> Bool {
        changes.allSatisfy { change in
            switch change {
            case .enqueue(let message), .keep(let message): message.id.rawValue <= RowKey.highestMessageID
            case .addJob(let job): job.message.id.rawValue <= RowKey.highestMessageID
            case .progress, .removeOutgoing, .strike, .reject, .removeRejected, .removeIncoming, .removeExpired,
                .updateJob, .removeJob, .rememberKey, .forgetKeys, .rememberPacketID, .forgetPacketID,
                .forgetAllPacketIDs, .rememberSession, .want, .forgetSubscription, .removeAll:
                true
            }
        }
    }

    private static let idTooHigh = CourierError(
        .storeFailed,
        "A message id is higher than \(RowKey.highestMessageID), the limit of a message store on disk. "
            + "Assign message ids from 1 upwards.")

    /// True if the batch adds a row, so that its scope (client id and broker) must be created if it is missing. If the
    /// scope is missing, changes that add no row have no effect.
    var needsScope: Bool {
        changes.contains { change in
            switch change {
            case .enqueue, .keep, .addJob, .rememberKey, .rememberPacketID, .rememberSession, .want: true
            case .progress, .removeOutgoing, .strike, .reject, .removeRejected, .removeIncoming, .removeExpired,
                .updateJob, .removeJob, .forgetKeys, .forgetPacketID, .forgetAllPacketIDs, .forgetSubscription,
                .removeAll:
                false
            }
        }
    }
}
