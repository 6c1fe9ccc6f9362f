import MQTTCodec

/// Checks the largest lengths and limits of MQTT, which may not fit if `Int` has 32 bits, and the text of a secret.
enum LargeNumbers {
    static func check(into report: inout Report) {
        let decoder = PacketDecoder(
            version: .v5, sender: .client, limits: PacketDecoder.Limits(maximumPacketSize: .max))
        let header: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0x7F]
        let next = try? decoder.nextFrame(in: header.span.bytes)
        report.check(next == .needsMore(268_435_455), "the largest remaining length is read as another number")

        let properties: PacketProperties = [
            .sessionExpiryInterval(.max), .maximumPacketSize(.max), .receiveMaximum(.max), .topicAliasMaximum(.max),
        ]
        let connect = Packet.connect(Connect(version: .v5, clientID: "c", properties: properties))
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: .v5, sender: .client, maximumPacketSize: .max)
        do throws(EncodeError) { try encoder.encode(connect, into: &buffer) } catch { report.fail("\(error)") }
        let written = buffer.take()
        report.line("largest numbers: \(hex(written))")
        report.check(
            (try? decodeAll(written, decoder))?.packets == [connect], "the largest numbers change when they are read")

        let secret = SecretBytes("hunter2")
        report.line("a secret is printed as \(secret)")
        let property = "\(Property.authenticationData(secret))"
        report.check(!property.utf8.contains(UInt8(ascii: "2")), "a property prints its secret")
    }
}
