import CourierCore

/// One commit that waits for the disk.
struct StoreBatch: Sendable {
    let changes: [StoreChange]
    let scope: StoreScope
    /// What it adds at most.
    let growth: StoreSize
    /// Whether its loss in a power cut would cost no more than a repetition.
    let isRepeatable: Bool
    /// Why it is refused without being tried.
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

    /// The same batch without what it wanted; its completion keeps its place in the order.
    func refused(_ error: CourierError) -> StoreBatch { StoreBatch(refused: self, error) }

    private static func hasRoomForIDs(_ changes: [StoreChange]) -> Bool {
        changes.allSatisfy { change in
            switch change {
            case .enqueue(let message), .keep(let message): message.id.rawValue <= RowKey.highestMessageID
            case .progress, .removeOutgoing, .strike, .reject, .removeRejected, .removeIncoming, .removeExpired,
                .rememberPacketID, .forgetPacketID, .forgetAllPacketIDs, .rememberSession, .want, .forgetSubscription,
                .removeAll:
                true
            }
        }
    }

    private static let idTooHigh = CourierError(
        .storeFailed,
        "A message id is higher than \(RowKey.highestMessageID), the highest that a message store on disk can keep. Give "
            + "ids out from 1 upwards.")

    /// Whether the scope has to be in the file for these changes to mean anything.
    var needsScope: Bool {
        changes.contains { change in
            switch change {
            case .enqueue, .keep, .rememberPacketID, .rememberSession, .want: true
            case .progress, .removeOutgoing, .strike, .reject, .removeRejected, .removeIncoming, .removeExpired,
                .forgetPacketID, .forgetAllPacketIDs, .forgetSubscription, .removeAll:
                false
            }
        }
    }
}
