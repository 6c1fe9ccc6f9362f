import Synchronization

/// Runs one law with a time limit. The errors that it throws contain the name of the law.
enum LawRun {
    /// Runs `body`.
    ///
    /// - Throws: ``LawViolation`` if the law is broken, if the tested implementation throws an error, or if `patience`
    ///   of real time has passed. A `body` that hangs is left running, because nothing can end it.
    static func run(
        _ law: String, patience: Duration, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let race = Race()
        let examination = Task {
            do {
                try await body()
                race.finish(.success(()))
            } catch {
                race.finish(.failure(error))
            }
        }
        let watch = Task {
            try await Task.sleep(for: patience)
            race.finish(.failure(Finding("an expected event did not happen within \(patience)")))
        }
        defer {
            examination.cancel()
            watch.cancel()
        }
        do {
            try await race.result()
        } catch let error as Finding {
            throw LawViolation(law, error.text)
        } catch {
            throw LawViolation(law, "it threw: \(error)")
        }
    }

    /// Stores the first of several results, and ignores later ones.
    private final class Race: Sendable {
        private enum State {
            case open
            case awaited(CheckedContinuation<Void, any Error>)
            case finished(Result<Void, any Error>)
        }

        private let state = Mutex(State.open)

        func finish(_ result: Result<Void, any Error>) {
            let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                switch state {
                case .open:
                    state = .finished(result)
                    return nil
                case .awaited(let waiting):
                    state = .finished(result)
                    return waiting
                case .finished: return nil
                }
            }
            waiting?.resume(with: result)
        }

        func result() async throws {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state -> Result<Void, any Error>? in
                    if case .finished(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let known { continuation.resume(with: known) }
            }
        }
    }
}
