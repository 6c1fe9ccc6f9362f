import MQTTCodec

/// Received packets that are not handled yet, in the order of their arrival.
struct PacketInbox: Sendable {
    private var packets: [Packet] = []
    private var first = 0

    mutating func append(_ packet: Packet) { packets.append(packet) }

    mutating func popFirst() -> Packet? {
        guard first < packets.count else { return nil }
        defer {
            first += 1
            if first == packets.count {
                packets.removeAll(keepingCapacity: first < 1_024)
                first = 0
            }
        }
        return packets[first]
    }
}
