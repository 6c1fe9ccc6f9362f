import CourierCore
import Foundation
import Synchronization
import Testing

@Suite struct AnyCancellableTests {
    private final class Witness: Sendable {}

    @Test func `a cancellable runs its action once, when the cancellable is cancelled or released`() {
        let count = Atomic(0)
        let explicit = AnyCancellable { count.add(1, ordering: .relaxed) }
        explicit.cancel()
        explicit.cancel()
        #expect(count.load(ordering: .relaxed) == 1)
        var dropped: AnyCancellable? = AnyCancellable { count.add(1, ordering: .relaxed) }
        dropped?.cancel()
        dropped = nil
        #expect(count.load(ordering: .relaxed) == 2)
        _ = AnyCancellable { count.add(1, ordering: .relaxed) }
        #expect(count.load(ordering: .relaxed) == 3)
    }

    @Test func `concurrent calls of cancel() run the cancel action only once`() {
        for _ in 0..<100 {
            let count = Atomic(0)
            let cancellable = AnyCancellable { count.add(1, ordering: .relaxed) }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in cancellable.cancel() }
            #expect(count.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `emptying a set or array of cancellables cancels their subscriptions`() {
        let subject = PassthroughSubject<Int, Never>()
        var received = 0
        var set = Set<AnyCancellable>()
        var array: [AnyCancellable] = []
        subject.eraseToAnyPublisher().sink { received += $0 }.store(in: &set)
        subject.eraseToAnyPublisher().sink { received += $0 }.store(in: &array)
        subject.send(1)
        #expect(received == 2)
        set = []
        array = []
        subject.send(1)
        #expect(received == 2)
    }

    @Test func `cancelling a subscription releases the objects that its closures captured`() {
        let subject = PassthroughSubject<Int, Never>()
        weak var (inSink, inMap): (Witness?, Witness?)
        var cancellable: AnyCancellable?
        do {
            let (sinkWitness, mapWitness) = (Witness(), Witness())
            (inSink, inMap) = (sinkWitness, mapWitness)
            cancellable = subject.eraseToAnyPublisher()
                .map { number in withExtendedLifetime(mapWitness) { number } }
                .sink { _ in withExtendedLifetime(sinkWitness) {} }
        }
        #expect(inSink != nil && inMap != nil)
        cancellable?.cancel()
        #expect(inSink == nil)
        cancellable = nil
        #expect(inMap == nil)
        subject.send(1)
    }

    @Test func `the completion of a publisher releases the closures of its sink`() {
        let subject = PassthroughSubject<Int, Never>()
        weak var inSink: Witness?
        let cancellable: AnyCancellable
        do {
            let witness = Witness()
            inSink = witness
            cancellable = subject.eraseToAnyPublisher().sink { _ in withExtendedLifetime(witness) {} }
        }
        subject.send(completion: .finished)
        #expect(inSink == nil)
        cancellable.cancel()
    }

    @Test func `a subscription does not retain its subject or the subject's value`() {
        weak var held: Witness?
        weak var heldSubject: CurrentValueSubject<Witness, Never>?
        let cancellable: AnyCancellable
        do {
            let subject = CurrentValueSubject<Witness, Never>(Witness())
            held = subject.value
            heldSubject = subject
            cancellable = subject.eraseToAnyPublisher().sink { _ in }
        }
        #expect(heldSubject == nil)
        #expect(held == nil)
        cancellable.cancel()
    }

    @Test func `a sink that cancels its own subscription receives no more values`() {
        let subject = PassthroughSubject<Int, Never>()
        var received: [Int] = []
        var cancellable: AnyCancellable?
        cancellable = subject.eraseToAnyPublisher().sink { number in
            received.append(number)
            guard number == 2 else { return }
            subject.send(3)
            cancellable?.cancel()
        }
        for number in [1, 2, 4] { subject.send(number) }
        #expect(received == [1, 2])
    }

    @Test func `after cancel() is called on the delivery queue, a sink receives no more values`() async {
        for _ in 0..<20 {
            let queue = DispatchQueue(label: "delivery")
            let subject = PassthroughSubject<Int, Never>()
            let (isCancelled, late) = (Flag(), Flag())
            let cancellable = subject.eraseToAnyPublisher().receive(on: queue).sink { _ in
                if isCancelled.isSet { late.set() }
            }
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                DispatchQueue.global().async { for number in 0..<500 { subject.send(number) } }
                queue.async {
                    cancellable.cancel()
                    isCancelled.set()
                    done.resume()
                }
            }
            queue.sync {}
            #expect(!late.isSet)
        }
    }

    @Test func `several threads can send, subscribe and cancel at the same time without a crash`() {
        let subject = PassthroughSubject<Int, Never>()
        DispatchQueue.concurrentPerform(iterations: 4) { role in
            for number in 0..<500 {
                if role.isMultiple(of: 2) {
                    subject.send(number)
                } else {
                    subject.eraseToAnyPublisher().filter { $0 > 2 }.sink { _ in }.cancel()
                }
            }
        }
    }
}
