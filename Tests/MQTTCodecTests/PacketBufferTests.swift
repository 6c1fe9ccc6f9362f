import TestSupport
import Testing

@testable import MQTTCodec

@Suite
struct PacketBufferTests {
    /// Runs the same random operations on a buffer and on an array, and compares them after each operation.
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `a PacketBuffer has the same contents as an array after random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var buffer = PacketBuffer(capacity: Int.random(in: 0...16, using: &random))
        var model: [UInt8] = []
        for step in 0..<5_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let byte = UInt8.random(in: 0...255, using: &random)
                buffer.append(byte)
                model.append(byte)
            case 1:
                buffer.append(0x0102 as UInt16)
                model += [1, 2]
            case 2:
                buffer.append(0x0102_0304 as UInt32)
                model += [1, 2, 3, 4]
            case 3:
                let bytes = (0..<Int.random(in: 0...200, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
                buffer.append(bytes.span.bytes)
                model += bytes
            case 4:
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.removeFirst(count)
                model.removeFirst(count)
            case 5:
                let position = buffer.position
                let kept = model.count
                buffer.append(7 as UInt8)
                buffer.append([UInt8](repeating: 9, count: Int.random(in: 0...200, using: &random)))
                if random.flag() {
                    buffer.truncate(to: position)
                } else {
                    let inserted = buffer.byteCount(since: position)
                    buffer.insert(variableByteInteger: inserted, at: position)
                    var prefix = PacketBuffer()
                    prefix.append(variableByteInteger: inserted)
                    model += prefix.withBytes { $0.withUnsafeBytes { Array($0) } }
                    model += [7] + [UInt8](repeating: 9, count: inserted - 1)
                }
                if buffer.count == kept { break }
            case 6:
                let value = random.pick([0, 127, 128, 16_384, 268_435_455])
                buffer.append(variableByteInteger: value)
                var expected = value
                repeat {
                    model.append(UInt8(expected & 0x7F) | (expected > 0x7F ? 0x80 : 0))
                    expected >>= 7
                } while expected > 0
            default:
                if random.chance(1, in: 10) {
                    buffer.removeAll()
                    model = []
                }
            }
            let contents = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
            if contents != model || buffer.count != model.count || buffer.isEmpty != model.isEmpty {
                Issue.record("seed \(seed), step \(step): \(hex(contents)) instead of \(hex(model))")
                return
            }
        }
    }

    @Test func `a packet that cannot be encoded adds no bytes to the buffer`() throws {
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: .v5, sender: .client)
        try encoder.encode(.pingReq, into: &buffer)
        #expect(throws: EncodeError(.wildcardInTopicName, in: .publish, .topicName)) {
            try encoder.encodePublish(topic: "a/+", payload: [1, 2, 3].span.bytes, into: &buffer)
        }
        #expect(buffer.withBytes { $0.withUnsafeBytes { hex($0) } } == "c000")
    }

    @Test func `a packet of the peer's maximum packet size is encoded, and encoding a larger packet throws`() throws {
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: .v311, sender: .client, maximumPacketSize: 20)
        let payload = [UInt8](repeating: 0, count: 15)
        try encoder.encodePublish(topic: "t", payload: payload.span.bytes, into: &buffer)
        #expect(buffer.count == 20)
        #expect(throws: EncodeError(.packetTooLarge(size: 21, limit: 20), in: .publish, .remainingLength)) {
            try encoder.encodePublish(topic: "t", payload: (payload + [0]).span.bytes, into: &buffer)
        }
        #expect(throws: EncodeError(.packetTooLarge(size: 22, limit: 20), in: .subscribe, .remainingLength)) {
            let filter = Subscription(String(repeating: "f", count: 15), qos: .atMostOnce)
            try encoder.encode(.subscribe(Subscribe(packetID: 1, subscriptions: [filter])), into: &buffer)
        }
    }

    @Test func `passwords and authentication data are hidden in descriptions and dumps`() {
        let connect = Connect(version: .v5, clientID: "c", username: "u", password: SecretBytes("hunter2"))
        var dumped = ""
        dump(connect, to: &dumped)
        let property = Property.authenticationData(SecretBytes("hunter2"))
        for text in ["\(connect)", String(reflecting: connect), dumped, "\(property)", String(reflecting: property)] {
            #expect(!text.contains("hunter2") && !text.contains("104, 117"))
            #expect(text.contains("<7 secret bytes>"))
        }
    }
}
