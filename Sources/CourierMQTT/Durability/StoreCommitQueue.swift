import CourierCore
import CourierTransport

/// Commits changes to the store in order, one commit at a time, and repeats a failed commit until it succeeds.
///
/// While a commit runs, the next changes gather, so that a slow store gets larger batches. A batch has a limit, and further
/// changes wait for the next one. The changes record facts, so they cannot be refused, only delayed. ``OutgoingStore`` takes
/// waiting changes along with its own commits.
///
/// Safe to share: everything is touched on the client's loop only, which each entry checks.
final class StoreCommitQueue: @unchecked Sendable {
    /// How long a store that failed is left alone, 1 s.
    static let retryInterval = Duration.seconds(1)
    /// The time without room after which the store may refuse refusable steps, 10 s. Before that, it may only be slow.
    static let fullPatience = Duration.seconds(10)
    /// How long a store is known to be full after it has refused something, 60 s.
    static let fullMemory = Duration.seconds(60)
    /// How many changes are committed together, 4,096, unless one step has more.
    static let maximumChanges = 4_096
    /// How many bytes of messages are committed together, 8 MiB, unless one step has more.
    static let maximumBytes = 8 << 20

    fileprivate struct Step {
        let changes: [StoreChange]
        /// Whether it may be lost in a power cut, and only there.
        var isRepeatable = false
        /// Whether a store that has no room for it may refuse it.
        var isRefusable = false
        let stored: ((Result<Void, CourierError>) -> Void)?
    }

    /// Carries the steps of one commit through the store's thread, which does not touch them.
    ///
    /// Safe to share: made and read on the loop only.
    final class Batch: @unchecked Sendable {
        fileprivate let steps: [Step]
        /// The epoch of the session that the steps belong to.
        fileprivate let epoch: Int

        var changes: [StoreChange] { steps.flatMap(\.changes) }

        fileprivate var isRefusable: Bool { steps.contains { $0.isRefusable } }

        fileprivate init(_ steps: [Step], _ epoch: Int) {
            self.steps = steps
            self.epoch = epoch
        }
    }

    private let store: any MessageStore
    private let loop: EventLoop
    /// Called for the first of several failures in a row.
    private let failed: (CourierError) -> Void
    /// Called once, when the client has ended and no commit is under way.
    private let ended: () -> Void
    private var hasEnded = false
    private var scope: StoreScope?
    private var steps: [Step] = []
    /// How many of them are committed one by one, because the store had no room for all of them together.
    private var singleCount = 0
    /// The time since which the store has had no room for refusable steps.
    private var fullSince: ContinuousClock.Instant?
    /// When it said so last.
    private var lastFull: ContinuousClock.Instant?
    /// The epoch of the session that the loop works for. A failed commit of an earlier session is not tried again.
    private let epoch: () -> Int
    private var isCommitting = false
    private var isScheduled = false
    /// Whether the store did not take the last commit.
    private(set) var isFailing = false
    private var retryTimer: TimerToken?
    private var end: CourierError?
    /// Why the last session was given up.
    private var removal: CourierError?

    init(
        _ store: any MessageStore, on loop: EventLoop, epoch: @escaping () -> Int,
        failed: @escaping (CourierError) -> Void, ended: @escaping () -> Void = {}
    ) {
        self.store = store
        self.loop = loop
        self.epoch = epoch
        self.failed = failed
        self.ended = ended
    }

    /// Whether nothing is on its way.
    var isIdle: Bool { steps.isEmpty && !isCommitting }

    /// Says whose rows these are, and begins.
    func begin(_ scope: StoreScope) {
        loop.preconditionOnLoop()
        self.scope = scope
        schedule()
    }

    /// Adds changes that belong together; `stored` is called on the loop when they are stored.
    func add(_ changes: StoreChange..., stored: (() -> Void)? = nil) {
        add(changes, settled: stored.map { stored in { if case .success = $0 { stored() } } })
    }

    /// Adds a change without a waiting caller. If it is lost in a power cut, a packet is repeated.
    func addRepeatable(_ change: StoreChange) {
        loop.preconditionOnLoop()
        guard end == nil else { return }
        steps.append(Step(changes: [change], isRepeatable: true, stored: nil))
        schedule()
    }

    /// Adds changes that belong together; `settled` is called on the loop when they are stored, or given up with the rest.
    /// If they are refusable, it is also called with `storeFull` when the store has no room for them, for long.
    func add(
        _ changes: [StoreChange], isRefusable: Bool = false, settled: ((Result<Void, CourierError>) -> Void)?
    ) {
        loop.preconditionOnLoop()
        if let end { settled?(.failure(end)) }
        guard end == nil else { return }
        steps.append(Step(changes: changes, isRefusable: isRefusable, stored: settled))
        schedule()
    }

    /// Drops the waiting steps, because the session was destroyed. Later steps belong to the next session, and wait for
    /// ``begin(_:)``.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        scope = nil
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        isFailing = false
        singleCount = 0
        fullSince = nil
        removal = error
        let abandoned = steps
        steps = []
        for step in abandoned { step.stored?(.failure(error)) }
    }

    /// The client has ended: finishes the commit under way. A failing store is not tried again.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        end = error
        if retryTimer != nil || scope == nil { removeAll(error) }
        tellEnd()
    }

    private func tellEnd() {
        guard end != nil, isIdle, !hasEnded else { return }
        hasEnded = true
        ended()
    }

    /// Returns the waiting steps for a commit of ``OutgoingStore``. Further steps gather until ``settled(_:_:)``.
    func takeAlong() -> Batch? {
        loop.preconditionOnLoop()
        guard scope != nil, !isCommitting, retryTimer == nil else { return nil }
        return take()
    }

    /// Reports the end of the commit that took the batch along. If it failed, the other changes may be the reason, so the batch
    /// is committed alone.
    func settled(_ batch: Batch, _ result: Result<Void, CourierError>) {
        loop.preconditionOnLoop()
        guard case .failure = result, batch.epoch == epoch() else { return committed(batch, result) }
        steps = batch.steps + steps
        isCommitting = false
        commit()
        tellEnd()
    }

    /// At the end of this turn of the loop, so that what one read brings is one batch.
    private func schedule() {
        guard scope != nil, !isScheduled, !isCommitting, retryTimer == nil, !steps.isEmpty else { return }
        isScheduled = true
        loop.execute { [self] in
            isScheduled = false
            commit()
        }
    }

    /// As many steps as a store should be given at once, and at least one if there is any.
    private func take() -> Batch {
        isCommitting = true
        var (count, changeCount, byteCount) = (0, 0, 0)
        for step in steps {
            changeCount += step.changes.count
            byteCount += step.changes.reduce(0) { $0 + $1.messageByteCount }
            if count > 0, singleCount > 0 || changeCount > Self.maximumChanges || byteCount > Self.maximumBytes {
                break
            }
            count += 1
        }
        singleCount = max(singleCount - 1, 0)
        let taken = steps[..<count]
        steps = Array(steps[count...])
        return Batch(Array(taken), epoch())
    }

    private func commit() {
        guard let scope, !isCommitting, !steps.isEmpty else { return }
        let batch = take()
        let completion: @Sendable (Result<Void, CourierError>) -> Void = { [loop] result in
            loop.execute { [self] in committed(batch, result) }
        }
        if batch.steps.allSatisfy(\.isRepeatable) {
            store.commitRepeatable(batch.changes, in: scope, completion: completion)
        } else {
            store.commit(batch.changes, in: scope, completion: completion)
        }
    }

    private func committed(_ batch: Batch, _ result: Result<Void, CourierError>) {
        isCommitting = false
        defer { tellEnd() }
        switch result {
        case .success:
            isFailing = false
            if batch.isRefusable { fullSince = nil }
            for step in batch.steps { step.stored?(.success(())) }
            schedule()
        case .failure(let error) where batch.epoch != epoch():
            for step in batch.steps { step.stored?(.failure(removal ?? error)) }
            schedule()
        case .failure(let error) where batch.isRefusable && isFull(error):
            if batch.steps.count == 1 {
                for step in batch.steps { step.stored?(.failure(error)) }
            } else {
                steps = batch.steps + steps
                singleCount += batch.steps.count
            }
            schedule()
        case .failure(let error):
            steps = batch.steps + steps
            // Steps that have room need not wait for the others.
            if batch.isRefusable, error.code == .storeFull { singleCount += batch.steps.count }
            if let end { return removeAll(end) }
            if !isFailing { failed(error) }
            isFailing = true
            retryTimer = loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [self] in
                retryTimer = nil
                schedule()
            }
        }
    }

    /// Whether the store has had no room for longer than it may be slow.
    private func isFull(_ error: CourierError) -> Bool {
        guard error.code == .storeFull else { return false }
        if let lastFull, lastFull.duration(to: loop.now) > Self.fullMemory { fullSince = nil }
        let since = fullSince ?? loop.now
        (fullSince, lastFull) = (since, loop.now)
        return since.duration(to: loop.now) >= Self.fullPatience
    }
}

extension StoreChange {
    /// How many bytes of topic and payload it brings.
    fileprivate var messageByteCount: Int {
        switch self {
        case .enqueue(let message), .keep(let message): message.topic.utf8.count + message.payload.count
        case .progress, .removeOutgoing, .strike, .reject, .removeRejected, .removeIncoming, .removeExpired,
            .rememberPacketID, .forgetPacketID, .forgetAllPacketIDs, .rememberSession, .want, .forgetSubscription,
            .removeAll:
            0
        }
    }
}
