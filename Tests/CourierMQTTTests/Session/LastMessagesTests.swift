import CourierCore
import CourierTesting
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

/// Messages that are published right before a disconnect.
@Suite(.timeLimit(.minutes(5))) struct LastMessagesTests {
    /// Counts the written packets by their type, which is in the first byte. In this test, batches are small, and a
    /// PUBLISH is shorter than 128 bytes.
    private final class Written: PacketObserver {
        private let types = Mutex<[UInt8]>([])
        var all: [UInt8] { types.withLock { $0 } }

        func observed(_ batch: PacketBatch) {
            guard batch.direction == .outgoing else { return }
            types.withLock { types in
                var place = 0
                while place + 1 < batch.bytes.count {
                    types.append(batch.bytes[place] >> 4)
                    place += 2 + Int(batch.bytes[place + 1])
                }
            }
        }
    }

    @Test func `accepted QoS 0 messages are sent before DISCONNECT`() async throws {
        let broker = try LoopbackBroker.start()
        for round in 0..<20 {
            let written = Written()
            let options = ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "last-\(round)", username: "", password: "",
                isCleanSession: true)
            let test = try TestClient(options) { $0.packetObserver = written }
            // The code path of a message differs with and without event listeners.
            if round.isMultiple(of: 2) { test.stopListening() }
            test.client.connect()
            try await test.client.connected()
            for number in 0..<10 {
                try test.client.publish(
                    bytes: [UInt8(number)], to: "t", qos: .zero, retain: false, properties: MessageProperties(),
                    completion: nil)
            }
            await test.client.disconnectAndWait()
            #expect(written.all == [1] + Array(repeating: 3, count: 10) + [14])
        }
        await broker.shutdown()
    }

    @Test func `accepted QoS 0 messages are sent before a disconnect even if the broker reads slowly`() async throws {
        let slow = ConnectionScript.connection([.accept(), .stopReading, .pause(.seconds(1)), .resumeReading])
        try await ScriptedWorld.run([slow]) { world in
            await world.connect()
            for _ in 0..<2_000 {
                try world.client.publish(
                    bytes: Array(repeating: 1, count: 4_096), to: "t", qos: .zero, retain: false,
                    properties: MessageProperties(), completion: nil)
            }
            let goodbye = Box<Result<Void, CourierError>>()
            world.client.disconnect { goodbye.value = $0 }
            await world.run(for: .seconds(1))
            await world.until { goodbye.value != nil }
            #expect(throws: Never.self) { try goodbye.value?.get() }
            #expect(await world.publishes().count == 2_000)
        }
    }
}
