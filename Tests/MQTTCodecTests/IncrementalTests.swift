import TestSupport
import Testing

@testable import MQTTCodec

/// Packets that arrive in pieces: the decoder requests the missing number of bytes until a packet is whole.
@Suite
struct IncrementalTests {
    static let corpus: [(ProtocolVersion, Endpoint, [UInt8])] = ProtocolVersion.allCases.flatMap { version in
        Endpoint.both.flatMap { sender in
            var generator = PacketGenerator(version: version, sender: sender, seed: 42)
            return generator.types.flatMap { type in
                (0..<6).compactMap { _ -> (ProtocolVersion, Endpoint, [UInt8])? in
                    guard let bytes = try? encode(generator.packet(type), version, from: sender) else { return nil }
                    return bytes.count <= 2_000 ? (version, sender, bytes) : nil
                }
            }
        }
    }

    @Test func `the test corpus contains more than 250 packets`() {
        #expect(Self.corpus.count > 250)
    }

    @Test func `nextFrame() of a truncated packet requests at least one byte, but no more than the missing bytes`()
        throws
    {
        for (version, sender, bytes) in Self.corpus {
            let decoder = PacketDecoder(version: version, sender: sender)
            for count in 0..<bytes.count {
                guard case .needsMore(let missing) = try decoder.nextFrame(in: Array(bytes[..<count]).span.bytes) else {
                    Issue.record("a frame in \(count) of \(bytes.count) bytes: \(hex(bytes))")
                    continue
                }
                if missing < 1 || count + missing > bytes.count {
                    Issue.record("\(missing) more than \(count) of \(bytes.count) bytes: \(hex(bytes))")
                }
            }
        }
    }

    @Test func `if a reader always reads the bytes that nextFrame() requests, the reader stops at the packet's end`()
        throws
    {
        for (version, sender, bytes) in Self.corpus {
            let decoder = PacketDecoder(version: version, sender: sender)
            var count = 0
            while case .needsMore(let missing) = try decoder.nextFrame(in: Array(bytes[..<count]).span.bytes) {
                count += missing
            }
            #expect(count == bytes.count)
        }
    }

    @Test func `two packets in two reads are decoded correctly for every split position`() throws {
        for (version, sender, bytes) in Self.corpus where bytes.count <= 300 {
            let decoder = PacketDecoder(version: version, sender: sender)
            let stream = bytes + bytes
            let whole = try decodeAll(stream, decoder).packets
            #expect(whole.count == 2)
            for split in 0...stream.count {
                let (first, consumed) = try decodeAll(Array(stream[..<split]), decoder)
                let (second, rest) = try decodeAll(Array(stream[consumed...]), decoder)
                if first + second != whole || consumed + rest != stream.count {
                    Issue.record("split at \(split) of \(hex(stream))")
                }
            }
        }
    }

    /// The fixed header contains the length of the body. A body that is too short for its fields is refused.
    @Test func `decoding a packet with a truncated body throws or returns a different packet`() throws {
        for (version, sender, bytes) in Self.corpus where bytes.count <= 300 {
            let decoder = PacketDecoder(version: version, sender: sender)
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { continue }
            let original = try decoder.packet(frame, in: bytes.span.bytes)
            for bodySize in 0..<(frame.end - frame.bodyStart) {
                var cut: [UInt8] = [bytes[0]]
                if bodySize >= 128 { cut.append(UInt8(bodySize & 0x7F) | 0x80) }
                cut.append(UInt8(bodySize >= 128 ? bodySize >> 7 : bodySize))
                cut += bytes[frame.bodyStart..<(frame.bodyStart + bodySize)]
                do throws(DecodeError) {
                    let packet = try decode(cut, version, from: sender)
                    #expect(packet != original)
                } catch {
                    #expect(error.offset <= cut.count)
                    #expect(error.packet == frame.type)
                }
            }
        }
    }

    /// Changes a few bytes of each packet. Most packets are refused. All accepted packets can be encoded again.
    @Test func `a randomly damaged packet throws a DecodeError or is decoded to an encodable packet`() {
        let seed: UInt64 = 7
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        var refused = 0
        for round in 0..<60_000 {
            let (version, sender, original) = random.pick(Self.corpus)
            var damaged = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(DecodeError) {
                guard let packet = try decode(damaged, version, from: sender) else { continue }
                accepted += 1
                let written = if case .connect(let connect) = packet { connect.version } else { version }
                if (try? encode(packet, written, from: sender)) == nil {
                    Issue.record("seed \(seed), round \(round): accepted, not encodable: \(hex(damaged))")
                }
            } catch {
                refused += 1
                if error.offset < 0 || error.offset > damaged.count {
                    Issue.record("seed \(seed), round \(round): offset \(error.offset) of \(hex(damaged))")
                }
            }
        }
        #expect(accepted > 1_000 && refused > 10_000)
    }
}
