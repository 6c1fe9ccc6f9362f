import MQTTCodec

extension BrokerMachine {
    /// Handles PUBACK, which ends the exchange of a QoS 1 message, even with a failure code ([MQTT-4.4.0-2],
    /// [MQTT-4.8.2-6]).
    mutating func receivedPubAck(
        _ acknowledgement: Acknowledgement, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let session = links[id]?.session else { return }
        switch sessions[session]?.outgoing[acknowledgement.packetID] {
        case .published(let delivery) where delivery.qos == .atLeastOnce:
            sessions[session]?.outgoing.end(acknowledgement.packetID)
            pump(session, now: now, &actions)
        case .published, .released: fail(id, .protocolViolation(.protocolError), now: now, &actions)
        case nil: break
        }
    }

    /// Handles PUBREC, which confirms a QoS 2 message, and answers with PUBREL ([MQTT-4.3.3-4]). A PUBREC with a
    /// failure code ends the exchange.
    mutating func receivedPubRec(
        _ acknowledgement: Acknowledgement, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let version = links[id]?.version, let session = links[id]?.session else { return }
        let packetID = acknowledgement.packetID
        switch sessions[session]?.outgoing[packetID] {
        case .published(let delivery) where delivery.qos == .exactlyOnce:
            if acknowledgement.reasonCode.isFailure {
                sessions[session]?.outgoing.end(packetID)
                pump(session, now: now, &actions)
            } else {
                sessions[session]?.outgoing.release(packetID)
                send(.pubRel(Acknowledgement(packetID: packetID)), to: id, now: now, &actions)
            }
        case .published: fail(id, .protocolViolation(.protocolError), now: now, &actions)
        case .released: send(.pubRel(Acknowledgement(packetID: packetID)), to: id, now: now, &actions)
        case nil:
            guard !acknowledgement.reasonCode.isFailure else { return }
            let answer = self.acknowledgement(packetID, .packetIdentifierNotFound, version)
            send(.pubRel(answer), to: id, now: now, &actions)
        }
    }

    /// Handles PUBCOMP, which frees the packet id.
    mutating func receivedPubComp(
        _ acknowledgement: Acknowledgement, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let session = links[id]?.session else { return }
        switch sessions[session]?.outgoing[acknowledgement.packetID] {
        case .released:
            sessions[session]?.outgoing.end(acknowledgement.packetID)
            pump(session, now: now, &actions)
        case .published: fail(id, .protocolViolation(.protocolError), now: now, &actions)
        case nil: break
        }
    }
}
