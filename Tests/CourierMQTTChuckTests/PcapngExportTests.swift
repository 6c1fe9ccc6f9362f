import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite(.timeLimit(.minutes(5))) struct PcapngExportTests {
    /// A tshark filter for frames with errors. No frame of a capture may match it.
    private static let complaints =
        "_ws.malformed || _ws.unreassembled || tcp.analysis.flags || tcp.checksum.status == 0 "
        + "|| ip.checksum.status == 0 || _ws.expert.severity >= 0x600000"

    private func expectNoComplaint(_ capture: Data) throws {
        let bad = try Tshark.fields(
            ["frame.number", "_ws.col.Info", "_ws.expert.message"], of: capture, filter: Self.complaints)
        #expect(bad == [])
    }

    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `tshark decodes every packet of the exported capture as MQTT, with the recorded fields`(
        version: MQTTCodec.ProtocolVersion
    ) throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, version: version).everything()
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        let rows = logger.rows().rows
        let names = [
            "mqtt.msgtype", "mqtt.topic", "mqtt.msgid", "mqtt.qos", "mqtt.dupflag", "mqtt.retain", "frame.time_epoch",
            "tcp.stream", "mqtt.clientid",
        ]
        let frames = try Tshark.fields(names, of: capture)
        #expect(frames.count == rows.count)
        for (frame, row) in zip(frames, rows) {
            #expect(frame[0] == row.type.map { "\($0.rawValue)" })
            // tshark resolves aliases too.
            #expect(frame[1] == (row.topic ?? "").replacing(", ", with: ","), "\(row.typeName)")
            #expect(frame[2] == (row.packetID.map { "\($0)" } ?? ""))
            if let qos = row.qos { #expect(frame[3] == "\(qos.rawValue)") }
            if row.type == .publish { #expect((frame[4], frame[5]) == ("0", "0")) }
            #expect(frame[6] == Self.epoch(row.timeNanoseconds))
            #expect(frame[7] == "0")
            if row.type == .connect { #expect(frame[8] == "phone-7") }
        }
    }

    private static func epoch(_ nanoseconds: Int64) -> String {
        let rest = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000).\(String(repeating: "0", count: 9 - rest.count))\(rest)"
    }

    @Test func `each connection is a separate TCP stream that begins with a handshake`() throws {
        let logger = MQTTChuckLogger.test()
        for id in UInt64(1)...3 {
            let recording = Recording(logger, id: id, client: "c\(id)", version: id == 2 ? .v311 : .v5)
            try recording.send(.connect(Connect(version: recording.version, clientID: "c\(id)")), at: Int(id))
            try recording.receive(.connAck(ConnAck()), at: Int(id) + 1)
        }
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        #expect(
            try Tshark.fields(["tcp.stream", "mqtt.msgtype"], of: capture).sorted { $0[0] < $1[0] } == [
                ["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"],
            ])
        let opening = try Tshark.fields(
            ["tcp.stream", "tcp.flags", "tcp.dstport"], of: capture, filter: "tcp.flags.syn == 1 && tcp.flags.ack == 0")
        #expect(opening == [["0", "0x0002", "1883"], ["1", "0x0002", "1883"], ["2", "0x0002", "1883"]])
    }

    @Test func `a packet larger than a TCP segment is split, and tshark reassembles it`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        try recording.send(.connect(Connect(version: .v311, clientID: "c")))
        try recording.send(
            Recording.message("large", String(repeating: "y", count: 50_000), id: 1, qos: .atLeastOnce),
            Recording.message("small"))
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 1)
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        let frames = try Tshark.fields(["mqtt.msgtype", "mqtt.topic", "mqtt.len"], of: capture)
        #expect(frames == [["1", "", "13"], ["3", "large", "50009"], ["3", "small", "8"], ["4", "", "2"]])
        let longest = try Tshark.fields(["tcp.len"], of: capture, filter: "tcp.len > 0").compactMap { Int($0[0]) }.max()
        #expect(longest == 1_460)
    }

    @Test func `if the logger has dropped the CONNECT of a connection, the pcapng export writes a substitute CONNECT`()
        throws
    {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 3
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.everything()
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        let frames = try Tshark.fields(["mqtt.msgtype", "frame.comment", "mqtt.ver"], of: capture)
        #expect(frames.map { $0[0] } == ["1", "10", "11", "14"])
        #expect(frames[0][1].hasPrefix("placeholder"))
        #expect(frames[0][2] == "5")
        #expect(frames[1][1].isEmpty)
    }

    @Test func `a truncated packet in a capture has its recorded bytes and a comment with the full size`() throws {
        var options = MQTTChuckOptions()
        options.packetMaxSize = 2_000
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        try recording.send(.connect(Connect(version: .v311, clientID: "c")))
        try recording.send(
            Recording.message("big", String(repeating: "y", count: 300_000), id: 8, qos: .atLeastOnce),
            Recording.message("next"))
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        let frames = try Tshark.fields(["mqtt.topic", "mqtt.msgid", "frame.comment"], of: capture)
        #expect(frames.map { $0[0] } == ["", "big", "next"])
        #expect(frames[1][1] == "8")
        #expect(frames[1][2] == "row 2: the first 2000 of 300011 bytes were kept")
    }

    @Test func `tshark reports no TCP error in a capture of 10000 messages`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        try recording.send(.connect(Connect(version: .v311, clientID: "c")))
        for batch in 0..<100 {
            try recording.observe(.incoming, (0..<100).map { try Recording.message("t/\($0)", "hello") }, at: batch)
        }
        let capture = logger.exported(.pcapng)
        try expectNoComplaint(capture)
        #expect(try Tshark.fields(["mqtt.msgtype"], of: capture).count == 10_001)
    }
}
