import CourierCore
import MQTTCodec

extension DisconnectOptions {
    /// Makes the DISCONNECT packet. In versions before MQTT 5, the engine leaves out the packet's properties.
    ///
    /// - Parameter endsSession: True if the session ends with its connection. The packet then contains no session
    ///   expiry, because a value above 0 would be a protocol error, and 0 would have no effect.
    /// - Returns: The packet.
    func packet(endsSession: Bool = false) -> Disconnect {
        var properties = PacketProperties()
        if !endsSession, let seconds = sessionExpiry.flatMap(WireSeconds.init)?.rawValue {
            properties.append(.sessionExpiryInterval(seconds))
        }
        if let reasonString { properties.append(.reasonString(reasonString)) }
        properties.list += userProperties.packetProperties
        // The reason code is valid, because `check` has refused codes that MQTT does not define.
        return Disconnect(
            reasonCode: PacketReasonCode(rawValue: reasonCode.rawValue) ?? .success, properties: properties)
    }

    /// Checks that DISCONNECT can carry these options on the connection that `agreement` describes.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage`` whose message names the field and the remedy.
    func check(for agreement: ConnectionAgreement, _ texts: WireText) throws(CourierError) {
        func refuse(_ problem: String) -> CourierError {
            CourierError(.invalidMessage, "The DISCONNECT cannot be sent: \(problem).")
        }
        guard PacketReasonCode(rawValue: reasonCode.rawValue)?.isAllowed(in: .disconnect, from: .client) == true else {
            throw refuse(
                "a client may not send the reason code \(reasonCode) in DISCONNECT; use normalDisconnection, "
                    + "disconnectWithWillMessage, or an error code such as unspecifiedError")
        }
        if let sessionExpiry {
            guard WireSeconds(sessionExpiry) != nil else {
                throw refuse("the session expiry \(sessionExpiry) is not between 0 and \(UInt32.max) seconds")
            }
            if agreement.endsSession, sessionExpiry > .zero {
                throw refuse(
                    "the session expiry is \(sessionExpiry), but CONNECT requested "
                        + "that the session ends with the connection (MQTT 5.0, section 3.14.2.2.2); "
                        + "before you connect, set MQTTClientConfig.session.expiry without a clean session")
            }
        }
        if let problem = reasonString.flatMap(texts.problem) { throw refuse("the reason string \(problem)") }
        if let problem = userProperties.problem(texts) { throw refuse("it \(problem)") }
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(
            version: .v5, sender: .client, maximumPacketSize: agreement.maximumPacketSize)
        do throws(EncodeError) {
            try encoder.encode(.disconnect(packet(endsSession: agreement.endsSession)), into: &buffer)
        } catch {
            guard case .packetTooLarge(let size, let limit) = error.violation else { throw refuse("\(error)") }
            throw refuse(
                "the packet has \(size) bytes, and the broker accepts at most \(limit) bytes; leave out properties")
        }
    }
}
