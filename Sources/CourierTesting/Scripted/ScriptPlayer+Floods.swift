import MQTTCodec

extension ScriptPlayer {
    /// The number of messages that a flood sends before other work of the loop can run.
    private static let floodChunk = 64

    func maySendMore(of flood: PublishFlood) -> Bool {
        flood.qos == .atMostOnce || flood.exceedsReceiveMaximum || inFlight.count < receiveMaximum
    }

    /// Sends some of the flood's remaining messages, and returns the number of messages that were sent.
    mutating func sendChunk(of flood: PublishFlood, sent: Int, _ actions: inout [Action]) -> Int {
        var count = 0
        while !isCongested, count < Self.floodChunk, sent + count < flood.count, maySendMore(of: flood) {
            let id = flood.qos == .atMostOnce ? nil : nextID()
            let delivery = Delivery(qos: flood.qos, packetID: id) ?? .atMostOnce
            let payload = flood.payload(sent + count)
            actions.append(.send(.publish(Publish(topic: flood.topic, payload: payload, delivery: delivery))))
            count += 1
        }
        return count
    }

    /// Returns a packet id that is not in flight. If all ids are in flight, returns the next id, although it is in
    /// flight.
    private mutating func nextID() -> PacketID? {
        for _ in 0...UInt16.max {
            lastID &+= 1
            guard let id = PacketID(rawValue: lastID) else { continue }
            if inFlight.insert(id).inserted || inFlight.count == Int(UInt16.max) { return id }
        }
        return nil
    }
}
