import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages of 1 MiB from a real mosquitto to a client that reads packets of at most 64 KiB in MQTT 3.1.1.
/// `ScriptedLargeMessageTests` has such tests in virtual time.
@Suite(.timeLimit(.minutes(5))) struct LargeMessageTests {
    @Test(arguments: [QoS.zero, .one, .two], [false, true])
    func `a large message is reported once, never sent again, and followed by small messages`(
        _ qos: QoS, _ hasStore: Bool
    ) async throws {
        let broker = try await RealBroker()
        let receiver = try TestClient(.local(broker.port, id: "receiver")) {
            $0.protocolVersion = .version311
            $0.limits.maximumPacketSize = 64 << 10
            if hasStore { $0.messageStore = MemoryMessageStore() }
        }
        let sender = try TestClient(.local(broker.port, id: "sender"))
        try await receiver.connect()
        try await sender.connect()
        let small = try await receiver.client.messages(String.self, from: "small", qos: .one).subscribed()
        var texts = small.makeAsyncIterator()
        try await receiver.client.subscribe(to: "large", qos: qos)
        let payload = Data(repeating: 0x30, count: 1 << 20)
        for round in 1...3 {
            try await sender.client.publish(payload, to: "large", qos: qos)
            try await sender.client.publish("\(round)", to: "small", qos: .one)
            #expect(try await texts.next() == "\(round)")
            try await receiver.wait(for: "messageReceiveFailure", count: round)
            // On the next connection, mosquitto sends unacknowledged messages again before the next small message.
            receiver.client.disconnect()
            try await receiver.wait(for: "connectionDisconnect", count: round)
            try await receiver.connect()
        }
        try await sender.client.publish("last", to: "small", qos: .one)
        #expect(try await texts.next() == "last")
        let failures = receiver.events.compactMap { event -> (topic: String, size: Int)? in
            if case .messageReceiveFailure(let topic, _, let size) = event { (topic, size) } else { nil }
        }
        #expect(failures.map(\.topic) == ["large", "large", "large"])
        #expect(failures.allSatisfy { $0.size == payload.count })
        #expect(!receiver.eventNames.contains("connectionLost"))
        try await receiver.end()
        try await sender.end()
        await broker.stop()
    }
}
