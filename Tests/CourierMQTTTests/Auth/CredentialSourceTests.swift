import CourierCore
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

@Suite struct CredentialSourceTests {
    private typealias Answer = (attempt: AttemptID, result: Result<ConnectGrant, any Error>)

    private static func options(_ user: String) -> ConnectOptions {
        ConnectOptions(host: "h", port: 1, clientId: "c", username: user, password: "")
    }

    private func user(_ answer: (attempt: AttemptID, result: Result<ConnectGrant, any Error>)?) -> String? {
        (try? answer?.result.get())?.options.username
    }

    /// A provider of an app: a class with state and no lock, which may be used on its queue only.
    private final class ClosureProvider: IConnectionServiceProvider {
        typealias Completion = @Sendable (Result<ConnectOptions, AuthError>) -> Void

        let clientId = "c"
        var cached: ConnectOptions?
        var pending: [Completion] = []
        var calls: [String] = []
        let queue: DispatchQueue
        /// Receives the name of each call after the call was recorded.
        let note: @Sendable (String) -> Void

        init(_ queue: DispatchQueue, note: @escaping @Sendable (String) -> Void) {
            self.queue = queue
            self.note = note
        }

        var existingConnectOptions: ConnectOptions? {
            dispatchPrecondition(condition: .onQueue(queue))
            return cached
        }

        func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
            dispatchPrecondition(condition: .onQueue(queue))
            pending.append(completion)
            note("get")
        }

        func clearCachedAuthResponse() {
            dispatchPrecondition(condition: .onQueue(queue))
            note("clear")
        }
    }

    /// A source, its provider, and their answers and calls in order.
    private struct Closures: Sendable {
        let queue = DispatchQueue(label: "delivery")
        let provider: NonSendableBox<ClosureProvider>
        let source: CredentialSource
        let answers = AsyncStream<Answer>.makeStream()
        let calls = AsyncStream<String>.makeStream()

        init(cached: ConnectOptions? = nil) {
            let calls = calls.continuation
            let provider = ClosureProvider(queue) { calls.yield($0) }
            provider.cached = cached
            self.provider = NonSendableBox(provider)
            source = CredentialSource(provider, on: queue)
        }

        func fetch(_ number: Int) {
            let answers = answers.continuation
            source.fetch(AttemptID(number: number)) { answers.yield(($0, $1)) }
        }

        /// Runs `body` on the provider's queue, after the work that is already queued.
        func onQueue<Value: Sendable>(_ body: @escaping @Sendable (ClosureProvider) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                // Capture the provider only, because the test waits for the release of the source.
                let provider = provider
                queue.async { continuation.resume(returning: provider.use(body)) }
            }
        }

        func answer(_ index: Int, _ result: Result<ConnectOptions, AuthError>) async {
            await onQueue { $0.pending[index](result) }
        }
    }

    @Test func `the provider is called on its queue, and only the first answer to each request is used`() async {
        let world = Closures()
        var answers = world.answers.stream.makeAsyncIterator()
        world.fetch(1)
        await world.answer(0, .success(Self.options("first")))
        await world.answer(0, .success(Self.options("second")))
        world.fetch(2)
        await world.answer(1, .failure(.httpError(statusCode: 401)))
        let first = await answers.next()
        #expect(first?.attempt == AttemptID(number: 1))
        #expect(user(first) == "first")
        let second = await answers.next()
        #expect(second?.attempt == AttemptID(number: 2), "the second completion of attempt 1 was not heard")
        #expect(throws: AuthError.self) { try second?.result.get() }
    }

    @Test func `cached options are used instead of the provider, except for the first request after clear()`() async {
        let world = Closures(cached: Self.options("cached"))
        var answers = world.answers.stream.makeAsyncIterator()
        world.fetch(1)
        #expect(user(await answers.next()) == "cached")
        #expect(await world.onQueue { $0.pending.count } == 0)

        world.source.clear()
        world.fetch(2)
        await world.answer(0, .success(Self.options("fresh")))
        #expect(user(await answers.next()) == "fresh")
        world.fetch(3)
        #expect(user(await answers.next()) == "cached")
        world.calls.continuation.finish()
        var calls: [String] = []
        for await call in world.calls.stream { calls.append(call) }
        #expect(calls == ["clear", "get"])
    }

    @Test func `the late answer of an abandoned request is ignored and does not answer the next request`() async {
        let world = Closures()
        var answers = world.answers.stream.makeAsyncIterator()
        world.fetch(1)
        _ = await world.onQueue { $0.pending.count }
        world.source.abandon(AttemptID(number: 1))
        world.fetch(2)
        await world.answer(0, .success(Self.options("late")))
        await world.answer(1, .success(Self.options("in time")))
        let answer = await answers.next()
        #expect(answer?.attempt == AttemptID(number: 2))
        #expect(user(answer) == "in time")
    }

    @Test func `a request that is abandoned while it waits for the queue never reaches the provider`() async {
        let world = Closures()
        world.queue.suspend()
        world.fetch(1)
        world.source.abandon(AttemptID(number: 1))
        world.queue.resume()
        #expect(await world.onQueue { $0.pending.count } == 0)
    }

    @Test func `a provider that never answers does not keep the credential source in memory`() async {
        let pending: NonSendableBox<ClosureProvider>
        weak var source: CredentialSource?
        weak var context: Box?
        do {
            let world = Closures()
            pending = world.provider
            source = world.source
            let box = Box()
            context = box
            world.source.fetch(AttemptID(number: 1)) { _, _ in box.touch() }
            _ = await world.onQueue { $0.pending.count }
        }
        #expect(pending.use { $0.pending.count } == 1)
        #expect(source == nil)
        #expect(context == nil, "what waits for the answer is released with the source")
        pending.use { $0.pending[0](.success(Self.options("too late"))) }
    }

    private final class Box: Sendable {
        func touch() {}
    }

    // MARK: Async providers

    /// A provider whose calls end when the test ends them, even if their tasks were cancelled.
    private final class TaskProvider: ConnectionServiceProvider {
        enum Call: Equatable { case ask(Int), clear, cancelled(Int) }

        private struct State {
            var asked = 0
            var running = 0
            var mostRunning = 0
            var waiting: [Int: CheckedContinuation<ConnectGrant, any Error>] = [:]
        }

        private let state = Mutex(State())
        let calls = AsyncStream<Call>.makeStream()
        var clientID: String { "c" }
        var mostRunning: Int { state.withLock { $0.mostRunning } }

        func connectOptions() async throws -> ConnectGrant {
            let number = state.withLock { state in
                state.asked += 1
                state.running += 1
                state.mostRunning = max(state.mostRunning, state.running)
                return state.asked
            }
            defer { state.withLock { $0.running -= 1 } }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    state.withLock { $0.waiting[number] = continuation }
                    calls.continuation.yield(.ask(number))
                }
            } onCancel: {
                calls.continuation.yield(.cancelled(number))
            }
        }

        func clearCachedOptions() async { calls.continuation.yield(.clear) }

        func end(_ number: Int, _ result: Result<ConnectGrant, any Error>) {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(with: result)
        }
    }

    @Test func `before the next request for options, an async provider is asked to clear the credentials`() async {
        let provider = TaskProvider()
        let source = CredentialSource(provider)
        let (stream, continuation) = AsyncStream<Answer>.makeStream()
        var answers = stream.makeAsyncIterator()
        var calls = provider.calls.stream.makeAsyncIterator()
        source.fetch(AttemptID(number: 1)) { continuation.yield(($0, $1)) }
        #expect(await calls.next() == .ask(1))
        let expiry = Date(timeIntervalSince1970: 5)
        provider.end(1, .success(ConnectGrant(Self.options("one"), expiresAt: expiry)))
        let first = await answers.next()
        #expect(user(first) == "one")
        #expect((try? first?.result.get())?.expiresAt == expiry)
        source.clear()
        source.fetch(AttemptID(number: 2)) { continuation.yield(($0, $1)) }
        #expect(await calls.next() == .clear)
        #expect(await calls.next() == .ask(2))
        provider.end(2, .failure(CourierError(.authenticationFailed, "no")))
        let second = await answers.next()
        #expect(throws: CourierError.self) { try second?.result.get() }
    }

    @Test func `abandoning a request cancels the provider's task, and the next request waits until the task ends`()
        async
    {
        let provider = TaskProvider()
        let source = CredentialSource(provider)
        let (stream, continuation) = AsyncStream<Answer>.makeStream()
        var answers = stream.makeAsyncIterator()
        var calls = provider.calls.stream.makeAsyncIterator()
        source.fetch(AttemptID(number: 1)) { continuation.yield(($0, $1)) }
        #expect(await calls.next() == .ask(1))
        source.abandon(AttemptID(number: 1))
        #expect(await calls.next() == .cancelled(1))
        // A request that is abandoned while an earlier call runs never reaches the provider.
        source.fetch(AttemptID(number: 2)) { continuation.yield(($0, $1)) }
        source.abandon(AttemptID(number: 2))
        source.fetch(AttemptID(number: 3)) { continuation.yield(($0, $1)) }
        provider.end(1, .success(ConnectGrant(Self.options("late"))))
        var next = await calls.next()
        while next == .cancelled(1) { next = await calls.next() }
        #expect(next == .ask(2), "the second call of the provider")
        provider.end(2, .success(ConnectGrant(Self.options("three"))))
        let answer = await answers.next()
        #expect(answer?.attempt == AttemptID(number: 3))
        #expect(user(answer) == "three")
        #expect(provider.mostRunning == 1)
    }

    @Test func `releasing the credential source cancels its running task`() async {
        let provider = TaskProvider()
        var calls = provider.calls.stream.makeAsyncIterator()
        var source: CredentialSource? = CredentialSource(provider)
        source?.fetch(AttemptID(number: 1)) { _, _ in Issue.record("nobody is left to be told") }
        #expect(await calls.next() == .ask(1))
        source = nil
        #expect(await calls.next() == .cancelled(1))
        provider.end(1, .failure(CancellationError()))
    }
}
