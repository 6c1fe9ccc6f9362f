import TestSupport
import Testing

@testable import CourierTransport

@Suite struct WebSocketFrameTests {
    struct Message: Equatable {
        let opcode: WebSocketOpcode
        let payload: [UInt8]
    }

    private static func written(_ messages: [Message], _ role: WebSocketRole, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var writer = WebSocketFrameWriter(role: role, masks: WebSocketMaskSource(using: &generator))
        var queue = ByteQueue()
        for message in messages { message.payload.withUnsafeBytes { writer.write(message.opcode, $0, into: &queue) } }
        return Array(queue.contents)
    }

    @Test(arguments: SeededGenerator.seeds, [WebSocketRole.client, .server])
    func `the frame reader decodes the writer's frames for every way of splitting the bytes`(
        _ seed: UInt64, _ role: WebSocketRole
    ) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<50 {
            let messages = (0..<random.below(12)).map { _ in
                let opcode = random.pick([WebSocketOpcode.binary, .binary, .ping, .pong])
                let count =
                    opcode == .binary ? random.below(random.pick([2, 130, 5_000, 70_000])) : random.below(126)
                return Message(opcode: opcode, payload: random.bytes(count))
            }
            var reader = WebSocketFrameReader(role: role == .client ? .server : .client, limits: .init(message: .max))
            var data: [UInt8] = []
            var controls: [Message] = []
            for piece in random.pieces(of: Self.written(messages, role, seed: seed)) {
                var bytes = piece
                var offset = 0
                try bytes.withUnsafeMutableBytes { bytes in
                    while let event = try reader.next(in: bytes, at: &offset) {
                        switch event {
                        case .payload(let place): data += bytes[place]
                        case .ping: controls.append(Message(opcode: .ping, payload: reader.control))
                        case .pong: controls.append(Message(opcode: .pong, payload: reader.control))
                        case .close: Issue.record("nobody closed")
                        }
                    }
                    #expect(offset == bytes.count)
                }
            }
            #expect(data == messages.filter { $0.opcode == .binary }.flatMap(\.payload), "seed \(seed), round \(round)")
            #expect(controls == messages.filter { $0.opcode != .binary }, "seed \(seed), round \(round)")
            #expect(!reader.isInsideMessage)
        }
    }

    @Test(arguments: [0, 126, 65_536], [WebSocketRole.client, .server])
    func `the frame reader decodes a frame if its header is split at any position, or arrives byte by byte`(
        _ count: Int, _ role: WebSocketRole
    ) {
        let payload = [UInt8](repeating: 7, count: count)
        let bytes = Self.written([Message(opcode: .binary, payload: payload)], role, seed: 1)
        let header = bytes.prefix(WebSocketFrame.longestHeader)
        let halves = (1..<header.count).map { [bytes.prefix($0), bytes.dropFirst($0)] }
        for pieces in halves + [header.map { [$0] } + [bytes.dropFirst(header.count)]] {
            var reader = WebSocketFrameReader(role: role == .client ? .server : .client, limits: .init(message: .max))
            var data: [UInt8] = []
            for var piece in pieces {
                data += piece.withUnsafeMutableBytes { bytes in Array(bytes[reader.unwrap(bytes) { _ in }.payload]) }
            }
            #expect(data == payload, "pieces of \(pieces.map(\.count)) bytes")
            #expect(!reader.isInsideMessage)
        }
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536])
    func `the frame length is encoded in as few bytes as possible`(_ count: Int) {
        let bytes = Self.written(
            [Message(opcode: .binary, payload: [UInt8](repeating: 7, count: count))], .server, seed: 1)
        #expect(bytes == RawFrame.binary([UInt8](repeating: 7, count: count)))
    }

    @Test func `only a client masks frames, and each frame has a different mask`() {
        let message = Message(opcode: .binary, payload: [0, 0, 0, 0])
        let client = Self.written([message, message], .client, seed: 1)
        #expect(client[1] & 0x80 != 0)
        #expect(client[2..<6] != client[12..<16])
        #expect(Self.written([message], .server, seed: 1) == [0x82, 4, 0, 0, 0, 0])
    }

    @Test func `the payloads of several frames in one buffer are joined without gaps`() {
        var reader = WebSocketFrameReader(role: .client, limits: .init(message: .max))
        var one = RawFrame.binary([1, 2, 3])
        one.withUnsafeMutableBytes { bytes in
            #expect(reader.unwrap(bytes) { _ in }.payload == 2..<5)
        }
        var three = RawFrame.binary([1, 2]) + RawFrame.ping([9]) + RawFrame.binary([]) + RawFrame.binary([3, 4, 5])
        three.withUnsafeMutableBytes { bytes in
            let place = reader.unwrap(bytes) { _ in }.payload
            #expect(place == 2..<7)
            #expect(Array(bytes[place]) == [1, 2, 3, 4, 5])
        }
    }

    @Test func `a close reason that is too long is cut between two characters`() throws {
        var generator = SeededGenerator(seed: 1)
        var writer = WebSocketFrameWriter(role: .server, masks: WebSocketMaskSource(using: &generator))
        var queue = ByteQueue()
        writer.writeClose(.goingAway, String(repeating: "€", count: 100), into: &queue)
        #expect(Array(queue.contents) == RawFrame.close(1001, Array(String(repeating: "€", count: 41).utf8)))
    }
}
