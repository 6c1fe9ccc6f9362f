import Board
import MQTTCodec
import MQTTEngine

/// The serial line to the broker, with a buffer of fixed size for received bytes.
struct SerialLine: ~Copyable {
    /// The buffer. Its first ``count`` bytes were received and not removed.
    private(set) var buffer: [UInt8]
    private(set) var count = 0

    /// Makes a line that holds up to `capacity` received bytes. The largest packet must fit.
    init(capacity: Int) { buffer = [UInt8](repeating: 0, count: capacity) }

    /// Takes the bytes that arrived, as far as the buffer has room. Returns false if it took no byte.
    mutating func receive() -> Bool {
        let former = count
        while count < buffer.count {
            let byte = line_read()
            guard byte >= 0 else { break }
            buffer[count] = UInt8(byte)
            count += 1
        }
        return count > former
    }

    /// Passes the received bytes to `engine`, and returns the number of bytes that it consumed.
    func pass(
        to engine: inout ClientEngine, now: ClientEngine.Instant, into packets: inout PacketBuffer,
        _ actions: inout ActionList
    ) -> Int {
        engine.received(buffer.span.bytes.extracting(first: count), now: now, into: &packets, &actions)
    }

    /// Removes the first `consumed` bytes.
    mutating func removeFirst(_ consumed: Int) {
        for index in consumed..<count { buffer[index - consumed] = buffer[index] }
        count -= consumed
    }

    /// Sends all bytes of `packets`, and empties it.
    func send(_ packets: inout PacketBuffer) {
        if packets.isEmpty { return }
        packets.withBytes { bytes in
            for offset in bytes.byteOffsets { line_write(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) }
        }
        packets.removeAll()
    }
}
