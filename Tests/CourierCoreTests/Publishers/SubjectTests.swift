import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct SubjectTests {
    /// Counts when two threads run its body at the same time.
    private final class Turnstile: Sendable {
        private let inside = Atomic(0)
        let collisions = Atomic(0)

        func pass(_ body: () -> Void) {
            if inside.add(1, ordering: .sequentiallyConsistent).oldValue != 0 {
                collisions.add(1, ordering: .sequentiallyConsistent)
            }
            body()
            inside.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    private struct Sent: Equatable, Sendable {
        let sender: Int
        let number: Int
    }

    @Test func `a subject delivers values in the order of the send() calls, before send() returns`() {
        let subject = PassthroughSubject<Int, Never>()
        var received: [Int] = []
        let cancellable = subject.eraseToAnyPublisher().sink { received.append($0) }
        for number in 0..<100 {
            subject.send(number)
            #expect(received.last == number)
        }
        #expect(received == Array(0..<100))
        cancellable.cancel()
    }

    @Test func `PassthroughSubject does not deliver earlier values to a later subscriber`() {
        let subject = PassthroughSubject<Int, Never>()
        subject.send(1)
        var received: [Int] = []
        let cancellable = subject.eraseToAnyPublisher().sink { received.append($0) }
        subject.send(2)
        #expect(received == [2])
        cancellable.cancel()
    }

    @Test func `a value sent from inside a sink is delivered after the sink has returned`() {
        let subject = PassthroughSubject<Int, Never>()
        var trace: [String] = []
        let cancellable = subject.eraseToAnyPublisher().sink { number in
            trace.append("in \(number)")
            if number < 3 { subject.send(number + 1) }
            trace.append("out \(number)")
        }
        subject.send(1)
        #expect(trace == ["in 1", "out 1", "in 2", "out 2", "in 3", "out 3"])
        cancellable.cancel()
    }

    @Test func `if a sink sends values, all subscribers receive the values in the same order`() {
        let subject = PassthroughSubject<Int, Never>()
        var (first, second): ([Int], [Int]) = ([], [])
        let publisher = subject.eraseToAnyPublisher()
        let cancellables = [
            publisher.sink { number in
                first.append(number)
                if number < 5 { subject.send(number + 1) }
            },
            publisher.sink { second.append($0) },
        ]
        subject.send(1)
        #expect(first == [1, 2, 3, 4, 5])
        #expect(second == first)
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test func `a sink receives all values of concurrent senders one at a time, each sender's values in order`() {
        let (senders, each) = (8, 1_000)
        let subject = PassthroughSubject<Sent, Never>(buffer: BufferPolicy(limit: senders * each))
        let turnstile = Turnstile()
        let first = Series<Sent>()
        let second = Series<Sent>()
        let publisher = subject.eraseToAnyPublisher()
        let cancellables = [
            publisher.sink { value in turnstile.pass { first.append(value) } }, publisher.sink { second.append($0) },
        ]
        DispatchQueue.concurrentPerform(iterations: senders) { sender in
            for number in 0..<each { subject.send(Sent(sender: sender, number: number)) }
        }
        // Each delivering thread returns only when its buffer is empty, so all values were delivered.
        #expect(first.values.count == senders * each)
        #expect(second.values == first.values)
        #expect(turnstile.collisions.load(ordering: .sequentiallyConsistent) == 0)
        for sender in 0..<senders {
            #expect(first.values.filter { $0.sender == sender }.map(\.number) == Array(0..<each))
        }
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test func `CurrentValueSubject delivers its current value first, and then each change`() {
        let subject = CurrentValueSubject<Int, Never>(1)
        subject.value = 2
        var received: [Int] = []
        let cancellable = subject.eraseToAnyPublisher().sink { received.append($0) }
        subject.send(3)
        #expect(received == [2, 3])
        #expect(subject.value == 3)
        cancellable.cancel()
    }

    @Test func `a subscriber that joins during sending receives each later value exactly once`() {
        let last = 3_000
        let subject = CurrentValueSubject<Int, Never>(0, buffer: BufferPolicy(limit: last + 1))
        let recorders = (0..<20).map { _ in Series<Int>() }
        let kept = Mutex<[AnyCancellable]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { role in
            if role == 0 {
                for number in 1...last { subject.send(number) }
            } else {
                for recorder in recorders {
                    let cancellable = subject.eraseToAnyPublisher().sink { recorder.append($0) }
                    kept.withLock { $0.append(cancellable) }
                }
            }
        }
        for recorder in recorders {
            let received = recorder.values
            #expect(received.last == last)
            #expect(received == Array((received.first ?? last)...last))
        }
    }

    @Test func `after concurrent sends, the last received value equals the subject's value`() {
        let subject = CurrentValueSubject<Int, Never>(0, buffer: BufferPolicy(limit: 8))
        let recorder = Series<Int>()
        let cancellable = subject.eraseToAnyPublisher().sink { recorder.append($0) }
        DispatchQueue.concurrentPerform(iterations: 8) { sender in
            for number in 0..<500 { subject.send(sender * 1_000 + number) }
        }
        #expect(recorder.values.last == subject.value)
        cancellable.cancel()
    }

    @Test(arguments: [BufferPolicy.Overflow.dropOldest, .dropNewest])
    func `a full subject buffer drops values by its overflow policy and reports each drop`(
        _ overflow: BufferPolicy.Overflow
    ) {
        let drops = Atomic(0)
        let policy = BufferPolicy(limit: 4, overflow: overflow) { drops.add(1, ordering: .relaxed) }
        let subject = PassthroughSubject<Int, Never>(buffer: policy)
        var received: [Int] = []
        let cancellable = subject.eraseToAnyPublisher().sink { number in
            received.append(number)
            if number == 0 { for next in 1...10 { subject.send(next) } }
        }
        subject.send(0)
        #expect(received == (overflow == .dropOldest ? [0, 7, 8, 9, 10] : [0, 1, 2, 3, 4]))
        #expect(drops.load(ordering: .relaxed) == 6)
        cancellable.cancel()
    }

    @Test func `a full subject buffer accepts a completion, and later values are not delivered`() {
        let subject = PassthroughSubject<Int, Never>(buffer: BufferPolicy(limit: 1))
        var received: [String] = []
        let cancellable = subject.eraseToAnyPublisher().sink(
            receiveCompletion: { received.append("\($0)") },
            receiveValue: { number in
                received.append("\(number)")
                guard number == 0 else { return }
                subject.send(1)
                subject.send(completion: .finished)
                subject.send(2)
            })
        subject.send(0)
        subject.send(3)
        #expect(received == ["0", "1", "finished"])
        cancellable.cancel()
    }

    @Test func `releasing a subject completes its subscribers`() {
        var subject: PassthroughSubject<Int, Never>? = PassthroughSubject()
        var isFinished = false
        let publisher = subject?.eraseToAnyPublisher()
        let cancellable = publisher?.sink(receiveCompletion: { _ in isFinished = true }, receiveValue: { _ in })
        subject = nil
        #expect(isFinished)
        cancellable?.cancel()
    }

    @Test func `a subscriber that joins after the completion receives the last value and the completion`() {
        var subject: CurrentValueSubject<Int, Never>? = CurrentValueSubject(7)
        let publisher = subject?.eraseToAnyPublisher()
        subject = nil
        var received: [String] = []
        let cancellable = publisher?.sink(
            receiveCompletion: { received.append("\($0)") }, receiveValue: { received.append("\($0)") })
        #expect(received == ["7", "finished"])
        cancellable?.cancel()
    }
}
