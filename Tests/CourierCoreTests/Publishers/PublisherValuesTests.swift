import CourierCore
import Foundation
import Synchronization
import Testing

@Suite struct PublisherValuesTests {
    @Test func `a loop receives the sent values in order and ends when the publisher completes`() async {
        let subject = PassthroughSubject<Int, Never>()
        var iterator = subject.eraseToAnyPublisher().values.makeAsyncIterator()
        for number in 1...5 { subject.send(number) }
        subject.send(completion: .finished)
        var received: [Int] = []
        while let number = await iterator.next() { received.append(number) }
        #expect(received == [1, 2, 3, 4, 5])
        #expect(await iterator.next() == nil)
    }

    @Test func `a waiting loop resumes when the next value is sent`() async {
        let subject = CurrentValueSubject<Int, Never>(0)
        var received: [Int] = []
        for await number in subject.eraseToAnyPublisher().values {
            received.append(number)
            if number == 200 { break }
            DispatchQueue.global().async { subject.send(number + 1) }
        }
        #expect(received == Array(0...200))
    }

    @Test func `a full buffer drops the oldest or newest values and reports each drop`() async {
        for (overflow, expected) in [(BufferPolicy.Overflow.dropOldest, [8, 9, 10]), (.dropNewest, [1, 2, 3])] {
            let drops = Atomic(0)
            let subject = PassthroughSubject<Int, Never>()
            let policy = BufferPolicy(limit: 3, overflow: overflow) { drops.add(1, ordering: .relaxed) }
            var iterator = subject.eraseToAnyPublisher().values(buffer: policy).makeAsyncIterator()
            for number in 1...10 { subject.send(number) }
            subject.send(completion: .finished)
            var received: [Int] = []
            while let number = await iterator.next() { received.append(number) }
            #expect(received == expected)
            #expect(drops.load(ordering: .relaxed) == 7)
        }
    }

    @Test func `cancelling a task ends its loop, whether or not the loop is already waiting for a value`() async {
        let subject = PassthroughSubject<Int, Never>()
        let publisher = subject.eraseToAnyPublisher()
        for _ in 0..<200 {
            let task = Task { for await _ in publisher.values {} }
            task.cancel()
            await task.value
        }
        let waiting = Task { for await _ in publisher.values {} }
        await Task.yield()
        waiting.cancel()
        await waiting.value
    }

    @Test func `a loop in a cancelled task receives no value, even if a value is buffered`() async {
        let subject = PassthroughSubject<Int, Never>()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = subject.eraseToAnyPublisher().values.makeAsyncIterator()
            subject.send(1)
            return await iterator.next()
        }
        #expect(await task.value == nil)
    }

    @Test func `a waiting loop ends when the subject is released`() async {
        var subject: PassthroughSubject<Int, Never>? = PassthroughSubject()
        let values = subject?.eraseToAnyPublisher().values
        let task = Task { if let values { for await _ in values {} } }
        await Task.yield()
        subject = nil
        await task.value
    }

    @Test func `a publisher's failure is thrown once, and then the loop ends`() async throws {
        let subject = PassthroughSubject<Int, CourierError>()
        var iterator = subject.eraseToAnyPublisher().values.makeAsyncIterator()
        subject.send(1)
        subject.send(completion: .failure(CourierError(.timedOut, "Too late.")))
        #expect(try await iterator.next() == 1)
        await #expect(throws: CourierError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `leaving a loop ends its subscription`() async {
        let subject = PassthroughSubject<Int, Never>()
        let transformed = Atomic(0)
        let publisher = subject.eraseToAnyPublisher().map { number in
            transformed.add(1, ordering: .relaxed)
            return number
        }
        do {
            var iterator = publisher.values.makeAsyncIterator()
            subject.send(1)
            #expect(await iterator.next() == 1)
        }
        subject.send(2)
        #expect(transformed.load(ordering: .relaxed) == 1)
    }

    @Test func `each loop over a publisher's values has its own buffer`() async {
        let subject = PassthroughSubject<Int, Never>()
        let values = subject.eraseToAnyPublisher().values
        var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
        subject.send(1)
        #expect(await first.next() == 1)
        #expect(await second.next() == 1)
    }
}
