import Foundation
import TestSupport
import Testing

@testable import MQTTCodec

/// Recorded traffic of mosquitto and its tools. `Scripts/record-captures` records the files.
struct Capture: CustomTestStringConvertible {
    struct Connection {
        var fromClient: [UInt8] = []
        var fromServer: [UInt8] = []
    }

    let name: String
    let version: ProtocolVersion
    let connections: [Connection]

    var testDescription: String { name }

    static let all: [Capture] = {
        guard let folder = Bundle.module.url(forResource: "Captures", withExtension: nil),
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        else { return [] }
        return files.filter { $0.pathExtension == "capture" }.sorted { $0.path < $1.path }.compactMap(Capture.init)
    }()

    private static let versions: [String: ProtocolVersion] = ["3.1": .v31, "3.1.1": .v311, "5": .v5]

    private init?(_ file: URL) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        name = file.deletingPathExtension().lastPathComponent
        var version: ProtocolVersion?
        var connections: [Connection] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("# ") {
            if line.hasPrefix("version: ") {
                version = Self.versions[String(line.dropFirst("version: ".count))]
            } else if line.hasPrefix("---") {
                connections.append(Connection())
            } else if let last = connections.indices.last {
                let run = MQTTCodecTests.bytes(String(line.dropFirst(2)))
                if line.hasPrefix("C ") {
                    connections[last].fromClient += run
                } else {
                    connections[last].fromServer += run
                }
            }
        }
        guard let version else { return nil }
        self.version = version
        self.connections = connections
    }

    /// All packets with their sender, in the order of sending for each sender.
    func packets() throws(DecodeError) -> [(Endpoint, Packet)] {
        var packets: [(Endpoint, Packet)] = []
        for connection in connections {
            for (sender, bytes) in [(Endpoint.client, connection.fromClient), (.server, connection.fromServer)] {
                let (found, consumed) = try decodeAll(bytes, PacketDecoder(version: version, sender: sender))
                if consumed != bytes.count { Issue.record("\(name): \(bytes.count - consumed) bytes left over") }
                packets += found.map { (sender, $0) }
            }
        }
        return packets
    }
}

@Suite
struct CaptureTests {
    @Test func `the recorded captures contain traffic of every MQTT version`() {
        #expect(Capture.all.count >= 100)
        for version in ProtocolVersion.allCases {
            #expect(Capture.all.count { $0.version == version } >= 30)
        }
    }

    @Test(arguments: Capture.all)
    func `every captured packet is decoded`(capture: Capture) throws {
        let packets = try capture.packets()
        #expect(!packets.isEmpty)
        for (_, packet) in packets {
            if case .connect(let connect) = packet { #expect(connect.version == capture.version) }
        }
    }

    /// The peers usually use the same short forms as our encoder, so the bytes are equal. If a peer used a longer form,
    /// our bytes are shorter and decode to the same packet.
    @Test(arguments: Capture.all)
    func `every captured packet is encoded to the captured bytes or to fewer bytes`(capture: Capture) throws {
        for connection in capture.connections {
            for (sender, bytes) in [(Endpoint.client, connection.fromClient), (.server, connection.fromServer)] {
                let decoder = PacketDecoder(version: capture.version, sender: sender)
                var offset = 0
                while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
                    let packet = try decoder.packet(frame, in: bytes.span.bytes)
                    let original = Array(bytes[offset..<frame.end])
                    let written = try encode(packet, capture.version, from: sender)
                    if written != original {
                        #expect(try decode(written, capture.version, from: sender) == packet)
                        #expect(written.count < original.count, "\(packet) as \(hex(written)), not \(hex(original))")
                    }
                    offset = frame.end
                }
            }
        }
    }

    @Test func `the captures contain every packet type except AUTH, and at least 20 properties`() throws {
        var types: Set<PacketType> = []
        var properties: Set<PropertyID> = []
        for capture in Capture.all {
            for (_, packet) in try capture.packets() {
                types.insert(packet.type)
                properties.formUnion(packet.allProperties.map(\.id))
            }
        }
        #expect(types == Set(PacketType.allCases).subtracting([.auth]))
        #expect(properties.count >= 20, "\(properties)")
    }
}

extension Packet {
    /// All properties of the packet, including those of the will.
    var allProperties: [Property] {
        switch self {
        case .connect(let connect): connect.properties.list + (connect.will?.properties.list ?? [])
        case .connAck(let connAck): connAck.properties.list
        case .publish(let publish): publish.properties.list
        case .pubAck(let acknowledgement), .pubRec(let acknowledgement), .pubRel(let acknowledgement),
            .pubComp(let acknowledgement):
            acknowledgement.properties.list
        case .subscribe(let subscribe): subscribe.properties.list
        case .subAck(let subAck): subAck.properties.list
        case .unsubscribe(let unsubscribe): unsubscribe.properties.list
        case .unsubAck(let unsubAck): unsubAck.properties.list
        case .disconnect(let disconnect): disconnect.properties.list
        case .auth(let auth): auth.properties.list
        case .pingReq, .pingResp: []
        }
    }
}
