import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Content types are sent with messages and select their adapter. Here the client has an event listener;
/// `UnobservedPublishTests` has tests without one.
@Suite(.timeLimit(.minutes(5))) struct ScriptedContentTypeTests {
    private static let note = Note(title: "a", rank: 1)

    @Test(arguments: [true, false])
    func `every publish function sends the adapter's content type, online and from the offline queue`(
        _ isOnline: Bool
    ) async throws {
        let refusing = ConnectionScript.connection([.refuse(.serverUnavailable)])
        try await ScriptedWorld.run(isOnline ? [] : [refusing]) { world in
            await world.connect()
            #expect(world.client.parts.events.isListenedTo)
            try world.client.publishMessage(Self.note, topic: "t", qos: .one)
            try await world.client.enqueue(Self.note, to: "t")
            let publishing = Task { [client = world.client] in try await client.publish(Self.note, to: "t") }
            await world.until { world.events.count { $0 == "messageSend" } == 3 }
            if !isOnline { #expect(await world.publishes().isEmpty) }
            await world.run(for: .seconds(1))
            #expect(try await publishing.value.reasonCode == .success)
            let contentTypes = await world.publishes().map(\.properties.contentType)
            #expect(contentTypes == ["application/json", "application/json", "application/json"])
        }
    }

    /// A JSON adapter that records the topics of the messages that it decodes.
    private struct NotingJSONAdapter: MessageAdapter {
        let topics: Series<String>

        var contentType: String { "application/json" }

        func fromMessage<T>(_ message: Data, topic: String) throws -> T {
            topics.append(topic)
            return try JSONMessageAdapter().fromMessage(message, topic: topic)
        }

        func toMessage<T>(data: T, topic: String) throws -> Data {
            try JSONMessageAdapter().toMessage(data: data, topic: topic)
        }
    }

    @Test func `the content type of a message selects the adapter, even if another adapter is listed first`()
        async throws
    {
        func message(_ adapter: any MessageAdapter) throws -> ScriptStep {
            let payload = try adapter.toMessage(data: Self.note, topic: "t")
            return .send(
                .publish(
                    Publish(
                        topic: "t", payload: [UInt8](payload), properties: [.contentType(adapter.contentType)])))
        }
        let (plist, json) = (try message(PlistMessageAdapter()), try message(JSONMessageAdapter()))
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, plist, .serve(until: .publish(to: "go")), json,
        ])
        let asked = Series<String>()
        try await ScriptedWorld.run([script]) {
            $0.messageAdapters = [NotingJSONAdapter(topics: asked), PlistMessageAdapter()]
        } _: { world in
            var notes = world.client.messages(Note.self, from: "t").makeAsyncIterator()
            await world.connect()
            #expect(try await notes.next() == Self.note)
            #expect(asked.values.isEmpty)
            try world.client.publish(text: "", to: "go", qos: .zero)
            #expect(try await notes.next() == Self.note)
            #expect(asked.values == ["t"])
        }
    }
}
