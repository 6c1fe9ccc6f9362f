import MQTTCodec
import Testing

@testable import CourierMQTT

/// The record that distinguishes a broker's repetition of a QoS 2 message from a mistake of the client.
@Suite struct ExactlyOnceRecordTests {
    private let id: PacketID = 7
    private let other: PacketID = 8

    private func record(_ packets: [(sender: Endpoint, packet: Packet)]) throws -> ExactlyOnceRecord {
        let record = ExactlyOnceRecord(.v5)
        for (sender, packet) in packets {
            var buffer = PacketBuffer()
            try PacketEncoder(version: .v5, sender: sender).encode(packet, into: &buffer)
            let tap = record.tap()
            buffer.withBytes { sender == .client ? tap.wrote($0, at: .now) : tap.read($0, at: .now) }
        }
        return record
    }

    private func message(_ id: PacketID, isDuplicate: Bool = false) -> Packet {
        .publish(Publish(topic: "a", payload: [1], delivery: .exactlyOnce(id, isDuplicate: isDuplicate)))
    }

    private func answer(_ id: PacketID) -> Acknowledgement { Acknowledgement(packetID: id) }

    @Test func `a repeated message before PUBREL belongs to the same exchange`() throws {
        let record = try record([(.server, message(id)), (.server, message(id, isDuplicate: true))])
        #expect(record.exchanges == [[1]: 1])
    }

    @Test func `a message that is repeated after PUBREL, or with another packet id, begins a new exchange`() throws {
        let released = try record([(.server, message(id)), (.server, .pubRel(answer(id))), (.server, message(id))])
        #expect(released.exchanges == [[1]: 2])
        let renamed = try record([(.server, message(id)), (.server, message(other))])
        #expect(renamed.exchanges == [[1]: 2])
    }

    @Test func `a client may send a message again before PUBREC with the same packet id`() throws {
        let record = try record([
            (.client, message(id)), (.client, message(id, isDuplicate: true)), (.server, .pubRec(answer(id))),
        ])
        #expect(record.violations.isEmpty)
    }

    @Test func `if a client sends a message again after PUBREC, or with another packet id, a violation is reported`()
        throws
    {
        let confirmed = try record([
            (.client, message(id)), (.server, .pubRec(answer(id))), (.client, message(id, isDuplicate: true)),
        ])
        #expect(confirmed.violations.count == 1)
        let renamed = try record([(.client, message(id)), (.client, message(other))])
        #expect(renamed.violations.count == 1)
    }
}
