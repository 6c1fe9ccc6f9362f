import BenchmarkKit
import CPahoPacket
import Glibc
import MQTTCodec

// Encodes and decodes packets with Courier, with Paho's C functions, and with a memcpy of the same bytes. It also
// measures the engine. It fails if a case allocates more heap blocks than `allowedAllocations`. Run it with
// `Scripts/bench codec`.

/// One row of the table.
struct Case {
    let name: String
    /// The maximum number of heap blocks that one packet may allocate.
    let allowedAllocations: Double
    let courier: (Int) -> Void
    let paho: ((Int) -> Void)?
    /// The bytes of the packet, for the memcpy that is the lower bound.
    let bytes: [UInt8]
}

func bytes(of packet: Packet, _ version: ProtocolVersion) throws -> [UInt8] {
    var buffer = PacketBuffer()
    try PacketEncoder(version: version, sender: .client).encode(packet, into: &buffer)
    return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
}

func encodeCase(
    _ name: String, _ packet: Packet, _ version: ProtocolVersion, allowing allowed: Double,
    paho: ((UnsafeMutablePointer<CChar>) -> Int)?
) throws -> Case {
    let wire = try bytes(of: packet, version)
    let encoder = PacketEncoder(version: version, sender: .client)
    return Case(
        name: "encode \(name)", allowedAllocations: allowed,
        courier: { rounds in
            var buffer = PacketBuffer(capacity: 65_536)
            for _ in 0..<rounds {
                if buffer.count > 60_000 { buffer.removeAll() }
                try? encoder.encode(packet, into: &buffer)
            }
            keep(buffer.count)
        },
        paho: paho.map { encode in
            { rounds in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { memory in
                    guard let base = memory.baseAddress else { return }
                    var used = 0
                    for _ in 0..<rounds {
                        if used > 60_000 { used = 0 }
                        used += encode(base + used)
                    }
                    keep(used)
                }
            }
        }, bytes: wire)
}

func publishCases(
    _ size: Int, _ version: ProtocolVersion, qos: PacketQoS, properties: PacketProperties
) throws -> [Case] {
    let topic = "sensors/room-7/temperature"
    let payload = [UInt8](repeating: 0x61, count: size)
    let delivery = Delivery(qos: qos, packetID: 7) ?? .atMostOnce
    let packet = Packet.publish(
        Publish(topic: topic, payload: payload, delivery: delivery, properties: properties))
    let wire = try bytes(of: packet, version)
    let level = Int32(version.rawValue)
    let suffix = properties.isEmpty ? "" : " with properties"
    let name = "PUBLISH \(size) B, \(version), QoS \(qos.rawValue)\(suffix)"
    let encoder = PacketEncoder(version: version, sender: .client)
    let decoder = PacketDecoder(version: version, sender: .client)
    let encode = Case(
        name: "encode \(name)", allowedAllocations: 0,
        courier: { rounds in
            var buffer = PacketBuffer(capacity: 65_536)
            for _ in 0..<rounds {
                if buffer.count > 60_000 { buffer.removeAll() }
                try? encoder.encodePublish(
                    topic: topic, payload: payload.span.bytes, delivery: delivery, properties: properties,
                    into: &buffer)
            }
            keep(buffer.count)
        },
        paho: { rounds in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { memory in
                guard let base = memory.baseAddress else { return }
                var used = 0
                for _ in 0..<rounds {
                    if used > 60_000 { used = 0 }
                    used += paho_encode_publish(
                        base + used, level, topic, payload, size, Int32(qos.rawValue), 7, properties.isEmpty ? 0 : 1)
                }
                keep(used)
            }
        }, bytes: wire)
    let decode = Case(
        name: "decode \(name)", allowedAllocations: 0,
        courier: { rounds in
            let span = wire.span.bytes
            var total = 0
            for _ in 0..<rounds {
                guard case .frame(let frame)? = try? decoder.nextFrame(in: span),
                    let view = try? decoder.publish(frame, in: span)
                else { continue }
                total &+= view.payload.count &+ view.topic.count
            }
            keep(total)
        },
        paho: { rounds in
            var packet = wire.map { CChar(bitPattern: $0) }
            var total = 0
            for _ in 0..<rounds { total &+= paho_decode_publish(&packet, packet.count, level) }
            keep(total)
        }, bytes: wire)
    return [encode, decode]
}

/// Returns a case that decodes into a value. The value outlives the received bytes, so decoding must copy them.
func copyCase(_ name: String, _ packet: Packet, _ version: ProtocolVersion, allowing allowed: Double) throws -> Case {
    let wire = try bytes(of: packet, version)
    let decoder = PacketDecoder(version: version, sender: .client)
    return Case(
        name: "decode \(name) to a value", allowedAllocations: allowed,
        courier: { rounds in
            let span = wire.span.bytes
            for _ in 0..<rounds {
                guard case .frame(let frame)? = try? decoder.nextFrame(in: span) else { continue }
                keep(try? decoder.packet(frame, in: span))
            }
        }, paho: nil, bytes: wire)
}

/// Returns all cases. Throws if the codec cannot encode one of the packets.
func allCases() throws -> [Case] {
    let connect = Packet.connect(
        Connect(
            version: .v5, clientID: "bench-client-0001", username: "user", password: SecretBytes("password"),
            properties: [
                .sessionExpiryInterval(3600), .receiveMaximum(100), .userProperty(name: "trace", value: "7f3a"),
            ]))
    let subscribe = Packet.subscribe(
        Subscribe(
            packetID: 7, subscriptions: [Subscription("sensors/+/temperature", qos: .atLeastOnce)],
            properties: [.userProperty(name: "trace", value: "7f3a")]))
    let publishProperties: PacketProperties = [
        .contentType("text/plain"), .userProperty(name: "trace", value: "7f3a"),
    ]
    let publish64 = Packet.publish(
        Publish(topic: "sensors/room-7/temperature", payload: [UInt8](repeating: 0x61, count: 64)))

    var cases: [Case] = []
    for size in [0, 64, 1_024] {
        for version in [ProtocolVersion.v311, .v5] {
            cases += try publishCases(size, version, qos: .atMostOnce, properties: [])
        }
    }
    cases += try publishCases(64, .v311, qos: .atLeastOnce, properties: [])
    cases += try publishCases(64, .v5, qos: .atLeastOnce, properties: publishProperties)
    cases.append(try copyCase("PUBLISH 64 B, 3.1.1", publish64, .v311, allowing: 2))
    cases.append(
        try encodeCase("SUBSCRIBE, 5.0, with properties", subscribe, .v5, allowing: 0) {
            paho_encode_subscribe($0, "sensors/+/temperature", 1, 7)
        })
    cases.append(try copyCase("SUBSCRIBE, 5.0, with properties", subscribe, .v5, allowing: 3))
    cases.append(
        try encodeCase("CONNECT, 5.0, with properties", connect, .v5, allowing: 0) {
            paho_encode_connect($0, "bench-client-0001", "user", "password")
        })
    cases.append(try copyCase("CONNECT, 5.0, with properties", connect, .v5, allowing: 6))

    cases += try engineCases()
    return cases
}

paho_setup()

let cases: [Case]
do {
    cases = try allCases()
} catch {
    print("bench: a packet of the codec benchmark can not be made: \(error)")
    exit(1)
}
let failures = CommandLine.arguments.contains("--allocations") ? checkAllocations(cases) : printTable(cases)
for failure in failures { print("FAILED", failure) }
if !failures.isEmpty { exit(1) }
