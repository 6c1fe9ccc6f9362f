import Synchronization

/// Looks host names up on threads of its own, since the operating system's look-up blocks, sometimes for half a minute.
///
/// Threads come as they are needed, up to ``threadLimit``, and end when nothing is left to do; further look-ups wait in
/// the order in which they were asked for. Whoever does not want an answer any more gives its ``LookUpTicket`` back.
final class HostResolver: Sendable {
    typealias Answer = Result<[SocketAddress], TransportError>
    typealias LookUp = @Sendable (String, UInt16) -> Answer

    /// How many look-ups run at the same time.
    static let threadLimit = 8

    static let shared = HostResolver()

    /// Done on a thread, or told why there is none.
    typealias Work = @Sendable (TransportError?) -> Void

    private struct State {
        /// What has not begun, by its number.
        var requests: [UInt64: Work] = [:]
        /// The number of the oldest request that may be there.
        var oldest: UInt64 = 0
        /// The number of the next request to come.
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

    /// Asks the operating system, unless `lookUp` says something else.
    init(lookUp: @escaping LookUp = HostResolver.askSystem) {
        self.lookUp = lookUp
    }

    /// How many look-ups have not begun.
    var waitingCount: Int { state.withLock { $0.requests.count } }

    /// Looks `host` up; `answer` is called on one of the resolver's threads, or on this one if none could be started.
    @discardableResult
    func resolve(host: String, port: UInt16, _ answer: @escaping @Sendable (Answer) -> Void) -> LookUpTicket {
        let lookUp = lookUp
        return perform { problem in answer(problem.map { .failure($0) } ?? lookUp(host, port)) }
    }

    /// Does `work`, a look-up of another kind, under the same limits.
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

    /// Forgets the request of this number if it has not begun.
    func cancel(_ number: UInt64) {
        // What it holds ends without the lock.
        _ = state.withLock { $0.requests.removeValue(forKey: number) }
    }

    private func startThread() {
        do throws(TransportError) {
            try LoopThread(name: "courier-dns") { self.work() }.detach()
        } catch {
            let left = state.withLock { state -> [Work] in
                state.threadCount -= 1
                var left: [Work] = []
                // Other threads, if there are any, will come to the requests.
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
