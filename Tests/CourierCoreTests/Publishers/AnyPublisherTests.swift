import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct AnyPublisherTests {
    /// A typical class of an app: mutable and not `Sendable`.
    private final class Screen {
        var lines: [String] = []
        func show(_ line: String) { lines.append(line) }
    }

    @MainActor
    private final class MainScreen {
        private var cancellables = Set<AnyCancellable>()
        private(set) var lines: [Int] = []

        func follow(_ publisher: AnyPublisher<Int, Never>, until last: Int, done: CheckedContinuation<Void, Never>) {
            publisher
                .receive(on: .main)
                .sink { [weak self] number in
                    self?.lines.append(number)
                    if number == last { done.resume() }
                }
                .store(in: &cancellables)
        }
    }

    @Test func `map, filter and compactMap keep the order of values, with and without argument labels`() {
        let subject = PassthroughSubject<Int, Never>()
        let screen = Screen()
        let publisher = subject.eraseToAnyPublisher()
        let cancellables = [
            publisher.filter(predicate: { $0 > 1 }).map(transform: { "a\($0)" }).sink(receiveValue: screen.show),
            publisher.filter { $0 < 3 }.compactMap { $0 == 1 ? nil : "b\($0)" }.sink { screen.show($0) },
        ]
        for number in 1...3 { subject.send(number) }
        #expect(screen.lines == ["a2", "b2", "a3"])
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test func `map and filter of optional values pass nil through`() {
        let subject = PassthroughSubject<Int?, Never>()
        var received: [Int?] = []
        let cancellable = subject.eraseToAnyPublisher().map { $0 }.filter { _ in true }.sink { received.append($0) }
        for number in [1, nil, 2] { subject.send(number) }
        #expect(received == [1, nil, 2])
        cancellable.cancel()
    }

    @Test func `removeDuplicates drops equal consecutive values, separately for each subscription`() {
        let subject = PassthroughSubject<Int, Never>()
        var (first, second): ([Int], [Int]) = ([], [])
        let publisher = subject.eraseToAnyPublisher().removeDuplicates()
        let early = publisher.sink { first.append($0) }
        for number in [1, 1, 2] { subject.send(number) }
        let late = publisher.sink { second.append($0) }
        for number in [2, 2, 1, 3, 3] { subject.send(number) }
        #expect(first == [1, 2, 1, 3])
        #expect(second == [2, 1, 3])
        early.cancel()
        late.cancel()
    }

    @Test func `the closure of removeDuplicates can read the current value of the subject`() {
        let subject = CurrentValueSubject<Int, Never>(0)
        var received: [Int] = []
        let cancellable = subject.eraseToAnyPublisher()
            .removeDuplicates { last, next in subject.value >= 0 && last == next }
            .sink { received.append($0) }
        for number in [0, 1, 1] { subject.send(number) }
        #expect(received == [0, 1])
        cancellable.cancel()
    }

    @Test func `a failure passes through all operators and completes the sink`() {
        let subject = PassthroughSubject<Int, CourierError>()
        var ended: [String] = []
        let cancellable = subject.eraseToAnyPublisher().map { $0 + 1 }.filter { $0 > 0 }.removeDuplicates().sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { ended.append("\(error.code)") }
            },
            receiveValue: { _ in })
        subject.send(completion: .failure(CourierError(.timedOut, "Too late.")))
        subject.send(completion: .finished)
        #expect(ended == ["timedOut"])
        cancellable.cancel()
    }

    @Test func `after receive(on) with a concurrent queue, a sink receives values in order, one at a time`() async {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let subject = PassthroughSubject<Int, Never>()
        let recorder = Series<Int>()
        let inside = Atomic(0)
        let collisions = Atomic(0)
        var cancellable: AnyCancellable?
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            cancellable = subject.eraseToAnyPublisher().receive(on: queue).sink { number in
                if inside.add(1, ordering: .relaxed).oldValue != 0 { collisions.add(1, ordering: .relaxed) }
                recorder.append(number)
                inside.subtract(1, ordering: .relaxed)
                if number == 2_000 { done.resume() }
            }
            for number in 1...2_000 { subject.send(number) }
        }
        #expect(recorder.values == Array(1...2_000))
        #expect(collisions.load(ordering: .relaxed) == 0)
        cancellable?.cancel()
    }

    @Test func `a full buffer of receive(on) drops the oldest values but not the completion`() async {
        let queue = DispatchQueue(label: "busy")
        let subject = PassthroughSubject<Int, Never>()
        let recorder = Series<Int>()
        let drops = Atomic(0)
        let policy = BufferPolicy(limit: 3) { drops.add(1, ordering: .relaxed) }
        var cancellable: AnyCancellable?
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            cancellable = subject.eraseToAnyPublisher().receive(on: queue, buffer: policy).sink(
                receiveCompletion: { _ in done.resume() }, receiveValue: { recorder.append($0) })
            queue.suspend()
            for number in 1...10 { subject.send(number) }
            subject.send(completion: .finished)
            queue.resume()
        }
        #expect(recorder.values == [8, 9, 10])
        #expect(drops.load(ordering: .relaxed) == 7)
        cancellable?.cancel()
    }

    @Test @MainActor func `a main-actor object receives values from another thread on the main queue`() async {
        let subject = PassthroughSubject<Int, Never>()
        let screen = MainScreen()
        await withCheckedContinuation { done in
            screen.follow(subject.eraseToAnyPublisher(), until: 500, done: done)
            DispatchQueue.global().async { for number in 1...500 { subject.send(number) } }
        }
        #expect(screen.lines == Array(1...500))
    }
}
