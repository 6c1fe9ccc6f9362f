import Synchronization

/// A thread that waits for descriptors, timers and work. It owns the channels and the other objects that belong to the
/// loop.
///
/// All work of a ``ByteChannel`` runs on its loop's thread. Other threads add work with ``execute(_:)``. An actor may
/// return ``asUnownedSerialExecutor()`` to run on the loop, and tasks may prefer the loop as their executor.
///
/// ```swift
/// let loop = try EventLoop(name: "courier")
/// loop.execute {
///     loop.schedule(at: loop.now + .seconds(1)) { print("a second later") }
/// }
/// await loop.shutdown()
/// ```
///
/// Safe to share: state that other threads use is in `inbox` under its lock, atomic, or constant. Only the thread that
/// holds `turn` uses all other state. ``isOnLoop`` is true on that thread, and each entry point checks this.
public final class EventLoop: @unchecked Sendable {
    /// The default maximum number of bytes that one read of a connection returns: 256 KiB.
    public static let readBufferSize = 256 << 10

    /// The allowed sizes of the read buffer: 4 KiB to 64 MiB. A size outside this range is replaced by the nearest
    /// limit.
    public static let readBufferSizes = (4 << 10)...(64 << 20)

    enum Job {
        case swift(UnownedJob)
        case closure(@Sendable () -> Void)
        case object(any LoopWork)
    }

    enum Phase {
        case running
        case stopping
        /// The loop's thread has ended. A thread that adds work now runs the work itself. Only one thread at a time
        /// runs such work.
        case ended(isDraining: Bool)

        var isStopping: Bool {
            switch self {
            case .running: false
            case .stopping, .ended: true
            }
        }
    }

    /// The part of the loop's state that other threads use.
    struct Inbox: ~Copyable {
        var phase = Phase.running
        /// True while the loop will check `jobs` before its next sleep, so that no thread needs to wake the loop.
        var isAwake = true
        var jobs: [Job] = []
        var shutdownWaiters: [@Sendable () -> Void] = []
    }

    /// The name of the loop's thread.
    public let name: String

    /// The clock of the loop.
    public let clock: any LoopClock

    let selector: Selector
    let inbox = Mutex(Inbox())
    let threadID = Atomic<UInt>(0)
    private let thread = Mutex<LoopThread?>(nil)
    private let wakeUps = Atomic<Int>(0)
    private let handedOver = Atomic<Int>(0)
    /// The lock for the loop's own state. The loop's thread holds this lock except while it sleeps. During the sleep, a
    /// thread that borrows the loop holds the lock.
    let turn = Mutex<Void>(())
    /// True while ``sleep`` is set. Threads that do not hold `turn` use this value as a hint.
    let isAsleep = Atomic(false)

    // MARK: State that only the loop uses

    /// The current sleep of the loop's thread; `nil` while the thread is awake or the loop is borrowed.
    var sleep: Sleep?
    /// The time when the loop last finished work from other threads.
    var lastWork: ContinuousClock.Instant

    /// The time when the loop last woke up, was borrowed, or began to fire timers. Reading this value is cheaper than
    /// reading the clock.
    var currentTime: ContinuousClock.Instant
    /// The beginning of the loop's last round, in nanoseconds since the start of the clock.
    let roundStart = Atomic<Int64>(0)
    private(set) var timers = TimerHeap<() -> Void>()
    private var batch: [Job] = []
    /// The number of jobs that the loop has begun. Jobs begin in the order in which they were added.
    package private(set) var begunCount = 0
    /// The work that runs at the end of this round, when no other work is in progress.
    private(set) var later: [() -> Void] = []
    /// The work that runs after the loop's next sleep, which is short; see `runSoon(_:)`.
    private(set) var soon: [any LoopWork] = []
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    private var hasToldResidents = false
    /// The buffer for received bytes, which all connections of the loop share.
    let readBuffer: UnsafeMutableRawBufferPointer
    /// The shared buffer for bytes that TLS has decrypted. It is allocated when a connection first needs it.
    private var plainBuffer: UnsafeMutableRawBufferPointer?

    /// Creates an event loop and starts its thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name. Linux keeps its first 15 bytes.
    ///   - clock: The clock of the loop; by default the real clock.
    ///   - readBufferSize: The maximum number of bytes that one read of a connection returns, by default 256 KiB. A
    ///     value outside ``readBufferSizes`` is replaced by the nearest limit. The loop has one buffer of this size,
    ///     which its connections share.
    ///   - priority: The thread's priority relative to other threads; by default ``LoopPriority/normal``.
    /// - Throws: ``TransportError`` if the system has no descriptor or thread left.
    public init(
        name: String = "courier-loop", clock: any LoopClock = RealLoopClock(),
        readBufferSize: Int = EventLoop.readBufferSize, priority: LoopPriority = .normal
    ) throws(TransportError) {
        self.name = name
        self.clock = clock
        selector = try Selector(try Platform.chosen.get())
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

    // MARK: Thread and time

    /// True if the caller runs on this loop.
    @inline(__always)
    public var isOnLoop: Bool { threadID.load(ordering: .relaxed) == LoopThread.current }

    /// Traps unless the caller runs on this loop.
    @inline(__always)
    public func preconditionOnLoop() {
        precondition(isOnLoop, "called from outside the event loop")
    }

    /// The time of ``clock`` at which the current round of the loop began. May be read on the loop only.
    public var now: ContinuousClock.Instant {
        preconditionOnLoop()
        return currentTime
    }

    /// The number of times that another thread had to wake the loop, for tests and benchmarks.
    public var wakeUpCount: Int { wakeUps.load(ordering: .relaxed) }

    // MARK: Work

    /// Runs `work` on the loop, after all work that was added before. May be called from any thread. If it is called on
    /// the loop, `work` runs after the current work.
    ///
    /// After ``shutdown()``, `work` runs at once on the calling thread. During this time, the calling thread counts as
    /// the loop's thread. If another thread is already running such work, that other thread also runs `work`.
    public func execute(_ work: @escaping @Sendable () -> Void) { enqueue(.closure(work)) }

    /// Runs `work` on the loop like ``execute(_:)``, but allocates no memory.
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

    /// The number of jobs added to the loop so far. The number includes all jobs that the calling thread has added.
    package var handedOverCount: Int { handedOver.load(ordering: .relaxed) }

    /// Wakes the loop's thread.
    func wake() {
        wakeUps.add(1, ordering: .relaxed)
        selector.wake()
    }

    /// Runs `work` at the end of this round of the loop, when no other work is in progress. May be called on the loop
    /// only.
    func runLater(_ work: @escaping () -> Void) {
        preconditionOnLoop()
        later.append(work)
    }

    /// The maximum sleep of the loop before it runs the work of ``runSoon(_:)``: 20 µs.
    static let shortSleep = Duration.microseconds(20)

    /// Runs `work` once on the loop, after the next sleep of the loop. This sleep is short, even if no thread wakes the
    /// loop. May be called on the loop only.
    ///
    /// Other threads may add items to a queue of `work` during this sleep. All these items are handled together, so no
    /// thread has to wake the loop for them. The sleep is measured in real time, even if ``clock`` is a manual clock.
    public func runSoon(_ work: any LoopWork) {
        preconditionOnLoop()
        if !soon.contains(where: { $0 === work }) { soon.append(work) }
    }

    // MARK: Timers

    /// Runs `work` on the loop when `deadline` has passed by ``clock``. Timers with equal deadlines run in the order of
    /// scheduling.
    ///
    /// May be called on the loop only. A timer that is due when the loop shuts down does not fire.
    @discardableResult
    public func schedule(at deadline: ContinuousClock.Instant, _ work: @escaping () -> Void) -> TimerToken {
        preconditionOnLoop()
        return timers.schedule(at: deadline, work)
    }

    /// Cancels a timer. Does nothing if the timer has fired or was already cancelled. May be called on the loop only.
    public func cancel(_ token: TimerToken) {
        preconditionOnLoop()
        timers.cancel(token)
    }

    // MARK: Residents

    /// Keeps `resident`, an object of this loop, alive and calls its `loopWillShutDown()` when the loop shuts down.
    func settle(_ resident: any LoopResident) {
        preconditionOnLoop()
        residents[ObjectIdentifier(resident)] = resident
        if inbox.withLock({ $0.phase.isStopping }) { runLater { resident.loopWillShutDown() } }
    }

    /// Releases `resident`, an object of this loop. The loop no longer notifies `resident` of the shutdown.
    func leave(_ resident: any LoopResident) {
        preconditionOnLoop()
        residents[ObjectIdentifier(resident)] = nil
    }

    /// Returns the buffer for decrypted bytes, and allocates it if needed. May be called on the loop only.
    func decryptedBuffer() -> UnsafeMutableRawBufferPointer {
        if let plainBuffer { return plainBuffer }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: readBuffer.count, alignment: 64)
        plainBuffer = made
        return made
    }

    // MARK: Shutdown

    /// Closes the objects that belong to the loop, such as channels, and runs the work that was added. Then ends the
    /// thread, and waits until the thread has ended.
    ///
    /// Later calls return when the first call is done. Do not await this function in a task that runs on this loop.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            beginShutdown { continuation.resume() }
        }
        joinThread()
    }

    /// Shuts the loop down like ``shutdown()``, but blocks the calling thread. Do not call it on the loop.
    @available(*, noasync)
    public func shutdownAndWait() {
        precondition(!isOnLoop, "an event loop cannot wait for its own end")
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

    // MARK: The loop's thread

    private func run() {
        var found = 0
        while let sleep = turn.withLock({ _ in runUntilIdle(found) }) {
            found = selector.wait(limit: sleep.limit)
        }
    }

    /// Dispatches the `found` events and runs all work that is ready. Returns the next sleep, or `nil` if the loop has
    /// ended.
    private func runUntilIdle(_ found: Int) -> Sleep? {
        threadID.store(LoopThread.current, ordering: .relaxed)
        isAsleep.store(false, ordering: .relaxed)
        sleep = nil
        inbox.withLock { $0.isAwake = true }
        beginRound()
        selector.dispatch(found)
        runSoonWorks()
        while true {
            // The loop takes jobs only after the timers have run. So no work runs between the last check for jobs and
            // the sleep.
            runTimersAndLater()
            let round = takeBatch()
            if round.hasWork {
                runSoonWorks()  // A busy loop does not sleep, so this work must also run here.
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
            beginRound()
            selector.dispatch(count)
        }
    }

    /// Moves the waiting jobs to `batch`. If no jobs wait, other threads must wake the loop from now on.
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
            // If a timer schedules another timer that is due at once, that timer fires in the next round. So timers
            // cannot block other work.
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

    /// Ends the loop and returns `true`, or returns `false` if new work has arrived.
    private func end() -> Bool {
        letGo()
        var waiters: [@Sendable () -> Void] = []
        let hasEnded = inbox.withLock { inbox -> Bool in
            // `letGo` has released the loop's objects and timers. Their deinitializers may have added work, so both
            // queues are checked again.
            guard inbox.jobs.isEmpty, later.isEmpty else { return false }
            // From now on, a thread that adds work also runs this work. During this time, it counts as the loop's
            // thread.
            threadID.store(0, ordering: .relaxed)
            inbox.phase = .ended(isDraining: false)
            swap(&waiters, &inbox.shutdownWaiters)
            return true
        }
        guard hasEnded else { return false }
        for waiter in waiters { waiter() }
        return true
    }

    /// Releases the loop's objects and timers. Their deinitializers may call the loop, so the loop's properties are
    /// emptied first.
    private func letGo() {
        var pastResidents: [ObjectIdentifier: any LoopResident] = [:]
        var pastTimers = TimerHeap<() -> Void>()
        swap(&pastResidents, &residents)
        swap(&pastTimers, &timers)
        soon = []
    }

    /// Runs work that was added after the loop's end. During this time, the calling thread counts as the loop's thread.
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

/// An object that belongs to a loop. The loop keeps it alive, and the object closes itself when the loop shuts down.
protocol LoopResident: AnyObject {
    /// Called once, on the loop, when the loop is about to end.
    func loopWillShutDown()
}
