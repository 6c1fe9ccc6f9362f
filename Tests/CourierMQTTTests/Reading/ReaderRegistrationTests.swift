import CourierCore
import CourierTransport
import Testing

@testable import CourierMQTT

/// The memory of a reader that was closed.
@Suite(.timeLimit(.minutes(2))) struct ReaderRegistrationTests {
    @Test func `the queue of a closed reader is freed, also if the reader gave messages back later`() async throws {
        try await ScriptedWorld.run { world in
            weak var queue: ReaderQueue?
            do {
                let parts = world.client.parts
                let request = SubscriptionRequest(topic: TopicTemplate(exactly: "a"), qos: .one)
                let registration = parts.readers.registration(request, grant: Waiter(parts.waiterCount))
                queue = registration.queue
                parts.loop.execute {
                    parts.coordinator.opened(registration, request)
                    parts.coordinator.closed(registration, [])
                    parts.coordinator.closed(registration, [])
                }
                await world.settle()
            }
            await world.settle()
            #expect(queue == nil)
        }
    }
}
