import Synchronization

/// Looks up host names on its own threads, because the operating system's look-up blocks, sometimes for half a minute.
///
/// Threads start when they are needed, up to ``threadLimit``, and end when no look-up waits. Further look-ups wait in
/// the order of the requests. To give up a look-up, cancel its ``LookUpTicket``.
final class HostResolver: Sendable {
    typealias Answer = Result<[SocketAddress], TransportError>
    typealias LookUp = @Sendable (String, UInt16) -> Answer

    /// The maximum number of look-ups that run at the same time.
    static let threadLimit = 8

    static let shared = HostResolver()

    /// A closure that performs a look-up on a resolver thread. If no thread could be started, the closure only receives
    /// the error.
    typealias Work = @Sendable (TransportError?) -> Void

    private struct State {
        /// The requests that have not begun, by number.
        var requests: [UInt64: Work] = [:]
        /// The lowest number that a waiting request may have. Requests with lower numbers have begun or were cancelled.
        var oldest: UInt64 = 0
        /// The number of the next new request.
        var next: UInt64 = 0
        var threadCount = 0

        mutating func add(_ work: @escaping Work) -> UInt64 {
            defer { next += 1 }
            requests[next] = work
            return next
        }

        mutating func takeOldest() -> Work? {
            while oldest < next {
                defer { oldest += 1 }
                if let work = requests.removeValue(forKey: oldest) { return work }
            }
            return nil
        }
    }

    private let state = Mutex(State())
    private let lookUp: LookUp

    /// Creates a resolver that looks up hosts with `lookUp`. By default, it asks the operating system.
    init(lookUp: @escaping LookUp = HostResolver.askSystem) {
        self.lookUp = lookUp
    }

    /// The number of look-ups that have not begun.
    var waitingCount: Int { state.withLock { $0.requests.count } }

    /// Looks up `host`. `answer` is called on a resolver thread, or on the calling thread if no thread could be
    /// started.
    @discardableResult
    func resolve(host: String, port: UInt16, _ answer: @escaping @Sendable (Answer) -> Void) -> LookUpTicket {
        let lookUp = lookUp
        return perform { problem in answer(problem.map { .failure($0) } ?? lookUp(host, port)) }
    }

    /// Runs `work`, a look-up of another kind, on the same threads and with the same limits.
    @discardableResult
    func perform(_ work: @escaping Work) -> LookUpTicket {
        let (number, needsThread) = state.withLock { state -> (UInt64, Bool) in
            let number = state.add(work)
            guard state.threadCount < Self.threadLimit else { return (number, false) }
            state.threadCount += 1
            return (number, true)
        }
        if needsThread { startThread() }
        return LookUpTicket(self, number)
    }

    /// Removes the request with this number if it has not begun.
    func cancel(_ number: UInt64) {
        // The removed closure is returned, so that its captured objects are released after the lock is released.
        _ = state.withLock { $0.requests.removeValue(forKey: number) }
    }

    private func startThread() {
        do throws(TransportError) {
            try LoopThread(name: "courier-dns") { self.work() }.detach()
        } catch {
            let left = state.withLock { state -> [Work] in
                state.threadCount -= 1
                var left: [Work] = []
                // No thread could be started. If other resolver threads run, they handle the waiting requests.
                // Otherwise, these requests fail.
                while state.threadCount == 0, let work = state.takeOldest() { left.append(work) }
                return left
            }
            for work in left { work(error) }
        }
    }

    private func work() {
        while true {
            let next = state.withLock { state -> Work? in
                let work = state.takeOldest()
                if work == nil { state.threadCount -= 1 }
                return work
            }
            guard let next else { return }
            next(nil)
        }
    }

    private static let askSystem: LookUp = { host, port in
        do throws(TransportError) {
            return .success(try SocketAddress.lookUp(host: host, port: port, isNumeric: false))
        } catch {
            return .failure(error)
        }
    }
}
