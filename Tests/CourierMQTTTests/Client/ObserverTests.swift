import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct ObserverTests {
    private final class Recorder: PacketObserver {
        private let batches = Mutex<[PacketBatch]>([])
        var all: [PacketBatch] { batches.withLock { $0 } }
        func observed(_ batch: PacketBatch) { batches.withLock { $0.append(batch) } }

        /// Returns all packets of one direction.
        func packets(_ direction: PacketBatch.Direction) throws -> [Packet] {
            let decoder = PacketDecoder(version: .v5, sender: direction == .outgoing ? .client : .server)
            let bytes = all.filter { $0.direction == direction }.flatMap(\.bytes)
            var packets: [Packet] = []
            var offset = 0
            while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
                packets.append(try decoder.packet(frame, in: bytes.span.bytes))
                offset = frame.end
            }
            #expect(offset == bytes.count)
            return packets
        }
    }

    @Test func `a packet observer receives every packet, with the password hidden`() async throws {
        let broker = try LoopbackBroker.start()
        let recorder = Recorder()
        let options = ConnectOptions(
            host: "127.0.0.1", port: broker.port, clientId: "seen", username: "ada", password: "secret")
        let test = try TestClient(options) { $0.packetObserver = recorder }
        try await test.connect()
        var texts = test.client.messages(String.self, from: "n").makeAsyncIterator()
        try await test.client.subscribe(to: "n")
        try await test.client.publish("x", to: "n")
        #expect(try await texts.next() == "x")
        try await test.end()
        let sent = try recorder.packets(.outgoing)
        #expect(sent.map(\.type) == [.connect, .subscribe, .publish, .pubAck, .disconnect])
        guard case .connect(let connect)? = sent.first else {
            Issue.record("\(sent)")
            return
        }
        #expect(connect.username == "ada")
        #expect(connect.password == SecretBytes("******"))
        let received = try recorder.packets(.incoming)
        #expect(Set(received.map(\.type)) == [.connAck, .subAck, .publish, .pubAck])
        let batch = try #require(recorder.all.first)
        #expect(recorder.all.allSatisfy { $0.connection === batch.connection })
        #expect(batch.connection.options.clientId == "seen")
        await broker.shutdown()
    }

    @Test func `all connections of a client have the same client number, and different clients have different numbers`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        var numbers: Set<UInt64> = []
        for _ in 0..<2 {
            let recorder = Recorder()
            let test = try TestClient(.local(broker.port)) { $0.packetObserver = recorder }
            try await test.connect()
            await test.client.disconnectAndWait()
            try await test.connect()
            try await test.end()
            let connections = recorder.all.map(\.connection)
            #expect(Set(connections.map(\.id)).count == 2)
            let number = try #require(connections.first?.clientNumber)
            #expect(connections.allSatisfy { $0.clientNumber == number })
            #expect(numbers.insert(number).inserted)
        }
        await broker.shutdown()
    }
}
