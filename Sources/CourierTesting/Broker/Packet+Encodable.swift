import MQTTCodec

extension Packet {
    /// Whether a server can send the packet in `version` to a client that accepts packets of at most `maximumSize`
    /// bytes.
    func isEncodable(in version: ProtocolVersion, maximumSize: Int = PacketEncoder.largestPacketSize) -> Bool {
        var buffer = PacketBuffer()
        do {
            try PacketEncoder(version: version, sender: .server, maximumPacketSize: maximumSize)
                .encode(self, into: &buffer)
            return true
        } catch {
            return false
        }
    }
}
