import Synchronization

/// One thread that waits for descriptors, timers and work, and owns all that lives on it.
///
/// Everything of a ``ByteChannel`` happens on its loop's thread. Other threads hand work over by ``execute(_:)``; an
/// actor may live here by returning ``asUnownedSerialExecutor()`` as its executor, and tasks may prefer it.
///
/// ```swift
/// let loop = try EventLoop(name: "courier")
/// loop.execute {
///     loop.schedule(at: loop.now + .seconds(1)) { print("a second later") }
/// }
/// await loop.shutdown()
/// ```
///
/// Safe to share: what other threads touch is in `inbox`, under its lock, atomic, or constant; everything else is touched by
/// who holds `turn`, the thread that ``isOnLoop`` tells, which each entry checks.
public final class EventLoop: @unchecked Sendable {
    /// How many bytes one read of any connection takes at most, unless the loop is made with another number: 256 KiB.
    public static let readBufferSize = 256 << 10

    /// What the size of the read buffer may be, 4 KiB to 64 MiB: a smaller or larger number counts as the nearest of these.
    public static let readBufferSizes = (4 << 10)...(64 << 20)

    enum Job {
        case swift(UnownedJob)
        case closure(@Sendable () -> Void)
        case object(any LoopWork)
    }

    enum Phase {
        case running
        case stopping
        /// The thread has ended. Whoever still brings work runs it, one at a time.
        case ended(isDraining: Bool)

        var isStopping: Bool {
            switch self {
            case .running: false
            case .stopping, .ended: true
            }
        }
    }

    /// What other threads touch.
    struct Inbox: ~Copyable {
        var phase = Phase.running
        /// Whether the loop will look into `jobs` before it sleeps, so that nobody needs to wake it.
        var isAwake = true
        var jobs: [Job] = []
        var shutdownWaiters: [@Sendable () -> Void] = []
    }

    /// The name of the loop's thread.
    public let name: String

    /// What tells the time here.
    public let clock: any LoopClock

    let selector: Selector
    let inbox = Mutex(Inbox())
    let threadID = Atomic<UInt>(0)
    private let thread = Mutex<LoopThread?>(nil)
    private let wakeUps = Atomic<Int>(0)
    private let handedOver = Atomic<Int>(0)
    /// Held by whoever touches what lives here: the loop's thread unless it sleeps, and while it does whoever borrows the
    /// loop.
    let turn = Mutex<Void>(())
    /// Whether ``sleep`` is set, as a hint to those who do not have the turn.
    let isAsleep = Atomic(false)

    // MARK: Touched on the loop only

    /// How long the loop's thread sleeps, while it does and nobody has borrowed the loop.
    var sleep: Sleep?
    /// When the last work that other threads had handed over was done.
    var lastWork: ContinuousClock.Instant

    /// The moment when the loop last woke or began to fire timers; as good as the clock's and cheaper to ask.
    var currentTime: ContinuousClock.Instant
    private(set) var timers = TimerHeap<() -> Void>()
    private var batch: [Job] = []
    /// How many jobs the loop has begun, in the order in which they were handed over.
    package private(set) var begunCount = 0
    /// What runs at the end of this round, when nobody is in the middle of anything.
    private(set) var later: [() -> Void] = []
    /// What runs after the next sleep, which is short.
    private(set) var soon: [any LoopWork] = []
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    private var hasToldResidents = false
    /// One read's bytes of whichever connection reads now.
    let readBuffer: UnsafeMutableRawBufferPointer
    /// The same for bytes that TLS has decrypted; made when a connection first needs it.
    private var plainBuffer: UnsafeMutableRawBufferPointer?

    /// Starts the loop's thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name; Linux keeps 15 bytes of it.
    ///   - clock: What tells the time; the real clock by default.
    ///   - readBufferSize: How many bytes one read of any connection takes at most, 256 KiB by default, within
    ///     ``readBufferSizes``: less is raised to 4 KiB, more is lowered to 64 MiB. The loop has one such buffer, which its
    ///     connections share.
    ///   - priority: How much the thread matters beside others; ``LoopPriority/normal`` by default.
    /// - Throws: ``TransportError`` when the machine has no descriptor or thread left.
    public init(
        name: String = "courier-loop", clock: any LoopClock = RealLoopClock(),
        readBufferSize: Int = EventLoop.readBufferSize, priority: LoopPriority = .normal
    ) throws(TransportError) {
        self.name = name
        self.clock = clock
        selector = try Selector()
        currentTime = clock.now
        lastWork = currentTime
        let sizes = EventLoop.readBufferSizes
        readBuffer = .allocate(
            byteCount: min(max(readBufferSize, sizes.lowerBound), sizes.upperBound), alignment: 64)
        clock.attach { [weak self] in self?.execute {} }
        let started = try LoopThread(name: name, priority: priority) { self.run() }
        thread.withLock { $0 = started }
    }

    deinit {
        readBuffer.deallocate()
        plainBuffer?.deallocate()
    }

    // MARK: Where am I

    /// Whether the caller runs on this loop.
    @inline(__always)
    public var isOnLoop: Bool { threadID.load(ordering: .relaxed) == LoopThread.current }

    /// Traps unless the caller runs on this loop.
    @inline(__always)
    public func preconditionOnLoop() {
        precondition(isOnLoop, "called from outside the event loop")
    }

    /// The time by ``clock`` when this round of the loop began. On the loop only.
    public var now: ContinuousClock.Instant {
        preconditionOnLoop()
        return currentTime
    }

    /// How often another thread had to wake the loop, for tests and benchmarks.
    public var wakeUpCount: Int { wakeUps.load(ordering: .relaxed) }

    // MARK: Work

    /// Runs `work` on the loop, after what was handed over before. From any thread; also from the loop itself, where
    /// it runs after the present work.
    ///
    /// After ``shutdown()`` it runs at once on the calling thread, as if that were the loop's.
    public func execute(_ work: @escaping @Sendable () -> Void) { enqueue(.closure(work)) }

    /// Runs `work` on the loop like ``execute(_:)``, without allocating.
    public func enqueue(_ work: any LoopWork) { enqueue(.object(work)) }

    func enqueue(_ job: Job) {
        enum Next { case nothing, wake, drain }
        let next = inbox.withLock { inbox -> Next in
            inbox.jobs.append(job)
            handedOver.add(1, ordering: .relaxed)
            switch inbox.phase {
            case .running, .stopping:
                if inbox.isAwake { return .nothing }
                inbox.isAwake = true
                return .wake
            case .ended(let isDraining):
                if isDraining { return .nothing }
                inbox.phase = .ended(isDraining: true)
                return .drain
            }
        }
        switch next {
        case .nothing: break
        case .wake: wake()
        case .drain: drainAfterEnd()
        }
    }

    /// How many jobs were handed to the loop so far. A thread that has handed over a job reads a number that includes it.
    package var handedOverCount: Int { handedOver.load(ordering: .relaxed) }

    /// Has the loop's thread look around.
    func wake() {
        wakeUps.add(1, ordering: .relaxed)
        selector.wake()
    }

    /// Runs `work` on the loop when this round is over and nobody is in the middle of anything. On the loop only.
    func runLater(_ work: @escaping () -> Void) {
        preconditionOnLoop()
        later.append(work)
    }

    /// For how long the loop sleeps at most before it runs what ``runSoon(_:)`` was given, 20 us.
    static let shortSleep = Duration.microseconds(20)

    /// Runs `work` on the loop once after its next sleep, which is short, even if nobody wakes the loop. On the loop only.
    ///
    /// So what other threads hand over meanwhile is done together, and none of them has to wake the loop. The sleep ends by
    /// the machine's clock, whichever ``clock`` the loop has.
    public func runSoon(_ work: any LoopWork) {
        preconditionOnLoop()
        if !soon.contains(where: { $0 === work }) { soon.append(work) }
    }

    // MARK: Timers

    /// Runs `work` on the loop once `deadline` has passed by ``clock``, equal deadlines in the order of scheduling.
    ///
    /// On the loop only. A timer that is due when the loop shuts down does not fire.
    @discardableResult
    public func schedule(at deadline: ContinuousClock.Instant, _ work: @escaping () -> Void) -> TimerToken {
        preconditionOnLoop()
        return timers.schedule(at: deadline, work)
    }

    /// Cancels a timer. One that has fired or was cancelled before is left alone. On the loop only.
    public func cancel(_ token: TimerToken) {
        preconditionOnLoop()
        timers.cancel(token)
    }

    // MARK: Residents

    /// Keeps `resident` alive and tells it when the loop shuts down.
    func settle(_ resident: any LoopResident) {
        preconditionOnLoop()
        residents[ObjectIdentifier(resident)] = resident
        if inbox.withLock({ $0.phase.isStopping }) { runLater { resident.loopWillShutDown() } }
    }

    /// Forgets `resident`.
    func leave(_ resident: any LoopResident) {
        preconditionOnLoop()
        residents[ObjectIdentifier(resident)] = nil
    }

    /// The buffer for decrypted bytes. On the loop only.
    func decryptedBuffer() -> UnsafeMutableRawBufferPointer {
        if let plainBuffer { return plainBuffer }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: readBuffer.count, alignment: 64)
        plainBuffer = made
        return made
    }

    // MARK: Ending

    /// Closes what lives here, runs what was handed over, ends the thread and waits for that. Later calls return when
    /// the first is done. Not to be awaited by a task that runs on this loop.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            beginShutdown { continuation.resume() }
        }
        joinThread()
    }

    /// The same as ``shutdown()`` for code that is not asynchronous, whose thread it blocks. Not to be called on the loop.
    @available(*, noasync)
    public func shutdownAndWait() {
        precondition(!isOnLoop, "a loop can not wait for its own end")
        beginShutdown {}
        joinThread()
    }

    private func beginShutdown(_ ended: @escaping @Sendable () -> Void) {
        let hasEnded = inbox.withLock { inbox -> Bool in
            switch inbox.phase {
            case .running: inbox.phase = .stopping
            case .stopping: break
            case .ended: return true
            }
            inbox.shutdownWaiters.append(ended)
            inbox.isAwake = true
            return false
        }
        if hasEnded { ended() } else { selector.wake() }
    }

    private func joinThread() {
        let last = thread.withLock { thread in
            let last = thread
            thread = nil
            return last
        }
        last?.join()
    }

    // MARK: The thread

    private func run() {
        var found = 0
        while let sleep = turn.withLock({ _ in runUntilIdle(found) }) {
            found = selector.wait(limit: sleep.limit)
        }
    }

    /// Reports the events that were found, and does what there is to do. Returns how long to sleep then; `nil` when the
    /// loop has ended.
    private func runUntilIdle(_ found: Int) -> Sleep? {
        threadID.store(LoopThread.current, ordering: .relaxed)
        isAsleep.store(false, ordering: .relaxed)
        sleep = nil
        inbox.withLock { $0.isAwake = true }
        currentTime = clock.now
        selector.dispatch(found)
        runSoonWorks()
        while true {
            // In this order, so that nothing runs between the decision to sleep and the sleep.
            runTimersAndLater()
            let round = takeBatch()
            if round.hasWork {
                runSoonWorks()  // A loop that is never idle does not sleep.
                runBatch()
                lastWork = clock.now
            }
            if round.isStopping {
                if !hasToldResidents {
                    hasToldResidents = true
                    for resident in residents.values { resident.loopWillShutDown() }
                } else if !round.hasWork, later.isEmpty, end() {
                    return nil
                }
            }
            if !round.hasWork && !round.isStopping && later.isEmpty {
                let sleep = Sleep(deadline: timers.nextDeadline, limit: sleepLimit())
                self.sleep = sleep
                isAsleep.store(true, ordering: .relaxed)
                return sleep
            }
            let count = selector.wait(limit: .zero)
            if !round.hasWork { inbox.withLock { $0.isAwake = true } }
            currentTime = clock.now
            selector.dispatch(count)
        }
    }

    /// Swaps the waiting jobs into `batch`. Without any, other threads have to wake the loop from now on.
    private func takeBatch() -> (hasWork: Bool, isStopping: Bool) {
        inbox.withLock { inbox in
            let isStopping = inbox.phase.isStopping
            if inbox.jobs.isEmpty {
                inbox.isAwake = isStopping
                return (false, isStopping)
            }
            swap(&inbox.jobs, &batch)
            return (true, isStopping)
        }
    }

    private func runBatch() {
        var jobs: [Job] = []
        swap(&jobs, &batch)
        for job in jobs { run(job) }
        jobs.removeAll(keepingCapacity: true)
        swap(&jobs, &batch)
    }

    private func run(_ job: Job) {
        begunCount &+= 1
        switch job {
        case .closure(let work): work()
        case .object(let work): work.runOnLoop()
        case .swift(let job): runSwift(job)
        }
    }

    private func runTimersAndLater() {
        if timers.count > 0 {
            currentTime = clock.now
            // What a timer schedules for now waits for the next round, so that timers cannot starve the rest.
            let due = currentTime
            var budget = timers.count
            while budget > 0, let work = timers.popDue(now: due) {
                work()
                budget -= 1
            }
        }
        if !later.isEmpty {
            var works: [() -> Void] = []
            swap(&works, &later)
            for work in works { work() }
            if later.isEmpty {
                works.removeAll(keepingCapacity: true)
                swap(&works, &later)
            }
        }
    }

    private func runSoonWorks() {
        guard !soon.isEmpty else { return }
        var works: [any LoopWork] = []
        swap(&works, &soon)
        for work in works { work.runOnLoop() }
        works.removeAll(keepingCapacity: true)
        if soon.isEmpty { swap(&works, &soon) }
    }

    private func sleepLimit() -> Duration? {
        let limit = timers.nextDeadline.flatMap { clock.sleepLimit(until: $0) }
        return soon.isEmpty ? limit : min(limit ?? Self.shortSleep, Self.shortSleep)
    }

    /// Ends the loop unless there is work again.
    private func end() -> Bool {
        letGo()
        var waiters: [@Sendable () -> Void] = []
        let hasEnded = inbox.withLock { inbox -> Bool in
            // What was let go may have brought work.
            guard inbox.jobs.isEmpty, later.isEmpty else { return false }
            // From here on, whoever brings work counts as the loop's thread.
            threadID.store(0, ordering: .relaxed)
            inbox.phase = .ended(isDraining: false)
            swap(&waiters, &inbox.shutdownWaiters)
            return true
        }
        guard hasEnded else { return false }
        for waiter in waiters { waiter() }
        return true
    }

    /// Forgets what lives here and the timers. What ends with them may call the loop, so it ends when both have been put
    /// aside.
    private func letGo() {
        var pastResidents: [ObjectIdentifier: any LoopResident] = [:]
        var pastTimers = TimerHeap<() -> Void>()
        swap(&pastResidents, &residents)
        swap(&pastTimers, &timers)
        soon = []
    }

    /// Runs work that came after the end, on the calling thread, which counts as the loop's meanwhile.
    private func drainAfterEnd() {
        threadID.store(LoopThread.current, ordering: .relaxed)
        while true {
            let isEmpty = inbox.withLock { inbox -> Bool in
                if inbox.jobs.isEmpty {
                    threadID.store(0, ordering: .relaxed)
                    inbox.phase = .ended(isDraining: false)
                    return true
                }
                swap(&inbox.jobs, &batch)
                return false
            }
            if isEmpty { return }
            runBatch()
            repeat { runTimersAndLater() } while !later.isEmpty
        }
    }
}

/// What lives on a loop: the loop keeps it alive, and it closes itself when the loop shuts down.
protocol LoopResident: AnyObject {
    /// The loop is about to end. Called on the loop, once.
    func loopWillShutDown()
}
