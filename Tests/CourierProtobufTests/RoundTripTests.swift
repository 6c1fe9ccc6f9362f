import CourierProtobuf
import Foundation
import Testing

/// Random messages of a schema with every feature, compared with Google's own implementations.
@Suite struct RoundTripTests {
    private let peer = Peer(type: "courier.test.Everything")

    @Test func `Swift reads a message that Python wrote, and writes the same bytes`() throws {
        for (index, message) in try peer.random(seed: Cases.seed, count: Cases.count).enumerated() {
            let value = try Courier_Test_Everything(protobufData: message)
            let written = try value.protobufData()
            guard written == message else {
                Issue.record("seed \(Cases.seed), case \(index): \(message.hex) became \(written.hex)")
                return
            }
        }
    }

    @Test func `Python reads a message that was built in Swift, and writes the same bytes`() throws {
        let values = try peer.random(seed: Cases.seed + 1, count: Cases.count)
            .map { try Courier_Test_Everything(protobufData: $0) }
        var generator = SeededGenerator(seed: Cases.seed)
        let messages = try values.map { try Mixture.of($0, values, &generator).protobufData() }
        for (index, (ours, theirs)) in zip(messages, try peer.echo(messages)).enumerated() where ours != theirs {
            Issue.record("seed \(Cases.seed), case \(index): \(ours.hex) became \(theirs.hex)")
            return
        }
    }

    @Test func `two concatenated messages are merged into the same message as in Python`() throws {
        // libprotobuf-c replaces a message in a oneof, but Google's libraries merge it.
        let parts = try peer.random(seed: Cases.seed + 2, count: Cases.count, without: [.oneofMessages])
        let pairs = zip(parts, parts.dropFirst()).map { $0 + $1 }
        for (pair, theirs) in zip(pairs, try peer.echo(pairs)) {
            let ours = try Courier_Test_Everything(protobufData: pair).protobufData()
            guard ours == theirs else {
                Issue.record("seed \(Cases.seed): \(pair.hex) became \(ours.hex), not \(theirs.hex)")
                return
            }
        }
    }

    @Test func `protoc reads messages that Swift writes, and Swift reads messages that protoc writes`() throws {
        for start in stride(from: 0, to: Cases.count, by: 100) {
            // protoc writes unknown fields as text that it cannot read again.
            let messages = try peer.random(
                seed: Cases.seed + 3 + UInt64(start), count: min(100, Cases.count - start), without: [.unknown])
            var batch = Courier_Test_Batch()
            batch.cases = try messages.map { try Courier_Test_Everything(protobufData: $0) }
            let ours = try batch.protobufData()
            let text = try Tool.protoc(["--decode=courier.test.Batch", "everything.proto"], input: ours)
            let theirs = try Tool.protoc(
                ["--encode=courier.test.Batch", "--deterministic_output", "everything.proto"], input: text)
            #expect(ours == theirs, "seed \(Cases.seed), cases from \(start)")
            #expect(try Courier_Test_Batch(protobufData: theirs).protobufData() == ours)
        }
    }
}
