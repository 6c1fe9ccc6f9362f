import CourierCore
import MQTTCodec
import Testing

@testable import CourierMQTT

@Suite struct SubscriptionBatchTests {
    private func encodedSize(_ packet: Packet) throws -> Int {
        var buffer = PacketBuffer()
        try PacketEncoder(version: .v5, sender: .client).encode(packet, into: &buffer)
        return buffer.count
    }

    @Test func `the computed size of a SUBSCRIBE or UNSUBSCRIBE with one filter equals its encoded size`() throws {
        // Filter lengths at which the length field of the packet grows by a byte, and the shortest and longest filter.
        for length in [1, 65_535] + Array(110...125) + Array(16_365...16_380) {
            for identifier: UInt32? in [nil, 1, 128, 268_435_455] {
                var entry = SubscriptionEntry(try TopicFilter(String(repeating: "x", count: length)))
                entry.identifier = identifier
                let subscribe = Subscribe(
                    packetID: 1, subscriptions: [Subscription(entry.filter.string, qos: .atLeastOnce)],
                    properties: identifier.map { [.subscriptionIdentifier($0)] } ?? [])
                let unsubscribe = Unsubscribe(packetID: 1, filters: [entry.filter.string])
                #expect(
                    try SubscriptionBatch.size(ofPacketWith: .subscribe(.one), for: entry)
                        == encodedSize(.subscribe(subscribe)), "\(length) bytes, \(identifier ?? 0)")
                #expect(
                    try SubscriptionBatch.size(ofPacketWith: .unsubscribe, for: entry)
                        == encodedSize(.unsubscribe(unsubscribe)), "\(length) bytes, \(identifier ?? 0)")
                // Also at lengths at which the length field of the properties grows by a byte.
                for count in [0, 108, 130] {
                    let property = UserProperty("name", String(repeating: "é", count: count))
                    entry.properties.userProperties = [property]
                    entry.endProperties = [property, property]
                    var (asking, ending) = (subscribe, unsubscribe)
                    asking.properties.list += [property].packetProperties
                    ending.properties.list += [property, property].packetProperties
                    #expect(
                        try SubscriptionBatch.size(ofPacketWith: .subscribe(.one), for: entry)
                            == encodedSize(.subscribe(asking)), "\(length) bytes, \(count) in the value")
                    #expect(
                        try SubscriptionBatch.size(ofPacketWith: .unsubscribe, for: entry)
                            == encodedSize(.unsubscribe(ending)), "\(length) bytes, \(count) in the value")
                }
                entry.properties = SubscriptionProperties()
                entry.endProperties = []
            }
        }
    }
}
