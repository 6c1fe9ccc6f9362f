import Synchronization

/// Looks host names up on threads of its own, since the operating system's look-up blocks, sometimes for half a minute.
///
/// Threads come as they are needed, up to ``threadLimit``, and end when nothing is left to do; further look-ups wait in
/// the order in which they were asked for.
final class HostResolver: Sendable {
    typealias Answer = Result<[SocketAddress], TransportError>
    typealias LookUp = @Sendable (String, UInt16) -> Answer

    /// How many look-ups run at the same time.
    static let threadLimit = 8

    static let shared = HostResolver()

    /// Done on a thread, or told why there is none.
    typealias Work = @Sendable (TransportError?) -> Void

    private struct State {
        var requests: [Work] = []
        var threadCount = 0
    }

    private let state = Mutex(State())
    private let lookUp: LookUp

    /// Asks the operating system, unless `lookUp` says something else.
    init(lookUp: @escaping LookUp = HostResolver.askSystem) {
        self.lookUp = lookUp
    }

    /// Looks `host` up; `answer` is called on one of the resolver's threads, or on this one if none could be started.
    func resolve(host: String, port: UInt16, _ answer: @escaping @Sendable (Answer) -> Void) {
        let lookUp = lookUp
        perform { problem in answer(problem.map { .failure($0) } ?? lookUp(host, port)) }
    }

    /// Does `work`, a look-up of another kind, under the same limits.
    func perform(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.requests.append(work)
            guard state.threadCount < Self.threadLimit else { return false }
            state.threadCount += 1
            return true
        }
        guard needsThread else { return }
        do throws(TransportError) {
            try LoopThread(name: "courier-dns") { self.work() }.detach()
        } catch {
            let left = state.withLock { state in
                state.threadCount -= 1
                // Other threads, if there are any, will come to the requests.
                guard state.threadCount == 0 else { return [Work]() }
                defer { state.requests = [] }
                return state.requests
            }
            for work in left { work(error) }
        }
    }

    private func work() {
        while true {
            let next = state.withLock { state -> Work? in
                if state.requests.isEmpty {
                    state.threadCount -= 1
                    return nil
                }
                return state.requests.removeFirst()
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
