import CourierCore
import CourierTransport

/// Commits changes to the store in the order in which they were added, one commit at a time. Repeats a failed commit
/// until it succeeds.
///
/// While a commit runs, later changes are collected for the next commit, so a slow store gets larger batches. A batch
/// has a maximum size; further changes wait for the next batch. If the store is full, most changes wait until it has
/// room. Only refusable steps fail when the store has been full for ``fullPatience``. ``OutgoingStore`` adds waiting
/// changes to its own commits.
///
/// Safe to share between threads: all state is used on the client's event loop only, and the methods check this.
final class StoreCommitQueue: @unchecked Sendable {
    /// The wait before a failed commit is repeated, 1 s.
    static let retryInterval = Duration.seconds(1)
    /// How long the store must be full before refusable steps fail, 10 s. Refusable steps are steps that may fail with
    /// the error `storeFull`. Before this time has passed, they are repeated, because the store may soon have room.
    static let fullPatience = Duration.seconds(10)
    /// If the last `storeFull` error is older than this time, 60 s, the store no longer counts as full. The next such
    /// error then starts the time ``fullPatience`` again.
    static let fullMemory = Duration.seconds(60)
    /// The largest number of changes in one commit, 4,096. If one call of `add` has more changes, they are committed
    /// alone.
    static let maximumChanges = 4_096
    /// The largest number of message bytes in one commit, 8 MiB. If one call of `add` has more bytes, its changes are
    /// committed alone.
    static let maximumBytes = 8 << 20

    /// Changes that are stored in the same commit.
    fileprivate struct Step {
        let changes: [StoreChange]
        /// True if the changes may be lost in a power cut, because the only effect is that one packet is sent again.
        /// They are not lost if only the process ends.
        var isRepeatable = false
        /// True if the step may fail with `storeFull` when the store has been full for ``fullPatience``. Every other
        /// step is repeated until it succeeds.
        var isRefusable = false
        let stored: ((Result<Void, CourierError>) -> Void)?
    }

    /// The steps of one commit. The thread of the store only passes this object back to the event loop, and does not
    /// use the steps.
    ///
    /// Safe to share between threads: created and read on the event loop only.
    final class Batch: @unchecked Sendable {
        fileprivate let steps: [Step]
        /// The epoch of the steps, which is the number of sessions that were destroyed before the batch was made.
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
    /// Called when a commit fails, but only for the first of several consecutive failures.
    private let failed: (CourierError) -> Void
    /// Called once, when the client has ended and no commit is running or waiting.
    private let ended: () -> Void
    private var hasEnded = false
    private var scope: StoreScope?
    private var steps: [Step] = []
    /// The number of steps at the front of the queue that are committed one by one, because the store had no room for
    /// all of them together.
    private var singleCount = 0
    /// The time of the first `storeFull` error since the store last had room; `nil` if the store has room. Only commits
    /// with refusable steps count, which are steps that may fail with this error.
    private var fullSince: ContinuousClock.Instant?
    /// The time of the last `storeFull` error of a commit with refusable steps, which are steps that may fail with this
    /// error; `nil` if there was none.
    private var lastFull: ContinuousClock.Instant?
    /// Returns the epoch, which is the number of sessions that were destroyed so far. A failed commit of an earlier
    /// epoch is not repeated.
    private let epoch: () -> Int
    private var isCommitting = false
    private var isScheduled = false
    /// True if the last commit failed.
    private(set) var isFailing = false
    private var retryTimer: TimerToken?
    private var end: CourierError?
    /// The error with which the last session was destroyed; `nil` if no session was destroyed. If a commit of the
    /// destroyed session is still running and fails, its steps get this error.
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

    /// True if no step waits and no commit is running.
    var isIdle: Bool { steps.isEmpty && !isCommitting }

    /// Sets the scope (client id and broker) of the rows, and starts committing.
    func begin(_ scope: StoreScope) {
        loop.preconditionOnLoop()
        self.scope = scope
        schedule()
    }

    /// Adds changes that are stored in one commit. `stored` is called on the event loop when the changes are stored.
    func add(_ changes: StoreChange..., stored: (() -> Void)? = nil) {
        add(changes, settled: stored.map { stored in { if case .success = $0 { stored() } } })
    }

    /// Adds a change that no caller waits for. If a power cut undoes the change, the only effect is that one packet is
    /// sent again.
    func addRepeatable(_ change: StoreChange) {
        loop.preconditionOnLoop()
        guard end == nil else { return }
        steps.append(Step(changes: [change], isRepeatable: true, stored: nil))
        schedule()
    }

    /// Adds changes that are stored in one commit. `settled` is called on the event loop when the changes are stored,
    /// or with an error if the queue drops them. If `isRefusable` is `true`, `settled` is called with `storeFull` when
    /// the store has been full for ``fullPatience``.
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

    /// Ends the queue, because the client has ended. Waiting steps are still committed, unless the store fails.
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

    /// Removes and returns the waiting steps, so that ``OutgoingStore`` commits them together with its own changes.
    /// Returns `nil` if this queue cannot commit now. Later steps wait until ``settled(_:_:)`` is called.
    func takeAlong() -> Batch? {
        loop.preconditionOnLoop()
        guard scope != nil, !isCommitting, retryTimer == nil else { return nil }
        return take()
    }

    /// Receives the result of the commit of ``OutgoingStore`` that included `batch`. If that commit failed, this queue
    /// commits the batch again alone, because changes outside the batch may have caused the failure.
    func settled(_ batch: Batch, _ result: Result<Void, CourierError>) {
        loop.preconditionOnLoop()
        guard case .failure = result, batch.epoch == epoch() else { return committed(batch, result) }
        steps = batch.steps + steps
        isCommitting = false
        commit()
        tellEnd()
    }

    /// Schedules a commit after the current turn of the event loop. One read from the network can bring many packets,
    /// so the changes of all these packets are stored in one batch.
    private func schedule() {
        guard scope != nil, !isScheduled, !isCommitting, retryTimer == nil, !steps.isEmpty else { return }
        isScheduled = true
        loop.execute { [self] in
            isScheduled = false
            commit()
        }
    }

    /// Removes and returns the steps of the next commit. Takes as many steps as the limits allow, and at least one if
    /// any step waits.
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
            // If the store is full, commit the steps one by one. The store may have room for the first steps, but not
            // for the whole batch.
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

    /// Returns `true` if the error is `storeFull` and the store has been full for at least `fullPatience`.
    private func isFull(_ error: CourierError) -> Bool {
        guard error.code == .storeFull else { return false }
        if let lastFull, lastFull.duration(to: loop.now) > Self.fullMemory { fullSince = nil }
        let since = fullSince ?? loop.now
        (fullSince, lastFull) = (since, loop.now)
        return since.duration(to: loop.now) >= Self.fullPatience
    }
}

extension StoreChange {
    /// The number of bytes of topic and payload that the change adds to the store.
    fileprivate var messageByteCount: Int {
        switch self {
        case .enqueue(let message), .keep(let message): message.topic.utf8.count + message.payload.count
        case .addJob(let job): job.message.topic.utf8.count + job.message.payload.count
        case .updateJob, .removeJob, .rememberKey, .forgetKeys, .progress, .removeOutgoing, .strike, .reject,
            .removeRejected, .removeIncoming, .removeExpired,
            .rememberPacketID, .forgetPacketID, .forgetAllPacketIDs, .rememberSession, .want, .forgetSubscription,
            .removeAll:
            0
        }
    }
}
