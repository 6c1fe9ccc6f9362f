import MQTTCodec

extension ScriptPlayer {
    /// Answers `packet` like a correct broker that stores no sessions and has no other clients.
    mutating func answer(_ packet: Packet, _ now: Instant, _ actions: inout [Action]) {
        switch packet {
        case .connect(let connect):
            let assignsID = connect.clientID.isEmpty && connect.version >= .v5
            let properties: PacketProperties =
                assignsID ? [.assignedClientIdentifier("scripted-\(connection)")] : []  // [MQTT-3.1.3-7]
            say(.connAck(ConnAck(properties: properties)), now, &actions)
        case .publish(let publish):
            switch publish.delivery {
            case .atMostOnce: break
            case .atLeastOnce(let id, _): say(.pubAck(Acknowledgement(packetID: id)), now, &actions)
            case .exactlyOnce(let id, _): say(.pubRec(Acknowledgement(packetID: id)), now, &actions)
            }
        case .pubRec(let received) where !received.reasonCode.isFailure:
            say(.pubRel(Acknowledgement(packetID: received.packetID)), now, &actions)
        case .pubRel(let release): say(.pubComp(Acknowledgement(packetID: release.packetID)), now, &actions)
        case .subscribe(let subscribe):
            let granted = subscribe.subscriptions.map { PacketReasonCode(rawValue: $0.qos.rawValue) ?? .success }
            say(.subAck(SubAck(packetID: subscribe.packetID, reasonCodes: granted)), now, &actions)
        case .unsubscribe(let unsubscribe):
            let codes = version >= .v5 ? unsubscribe.filters.map { _ in PacketReasonCode.success } : []
            say(.unsubAck(UnsubAck(packetID: unsubscribe.packetID, reasonCodes: codes)), now, &actions)
        case .pingReq: say(.pingResp, now, &actions)
        case .disconnect: cut(.orderly, &actions)
        case .pubAck, .pubRec, .pubComp, .auth, .connAck, .subAck, .unsubAck, .pingResp: break
        }
    }

    /// Sends an answer. If a fault applies to the answer, performs the fault instead.
    private mutating func say(_ packet: Packet, _ now: Instant, _ actions: inout [Action]) {
        guard let index = faults.firstIndex(where: { $0.fault.type == packet.type && $0.remaining > 0 }) else {
            return actions.append(.send(packet))
        }
        if faults[index].remaining != .max { faults[index].remaining -= 1 }
        switch faults[index].fault.kind {
        case .dropped: break
        case .repeated(let times): for _ in 0..<times { actions.append(.send(packet)) }
        case .delayed(let delay):
            let deadline = now + delay
            let place = delayed.firstIndex { $0.deadline > deadline } ?? delayed.count
            delayed.insert(Delayed(deadline: deadline, packet: packet), at: place)
        case .held(let gate) where releasedGates.contains(ObjectIdentifier(gate)): actions.append(.send(packet))
        case .held(let gate):
            held.append((gate, packet))
            watch(gate, &actions)
        case .reversed(let size):
            faults[index].group.append(packet)
            guard faults[index].group.count >= size else { return }
            actions += faults[index].group.reversed().map { .send($0) }
            faults[index].group = []
        case .replaced(let packets): actions += packets.map { .send($0) }
        }
    }

    /// Asks the owner to call the player when the gate is released. Asks only once for each gate.
    mutating func watch(_ gate: ScriptGate, _ actions: inout [Action]) {
        if watched.insert(ObjectIdentifier(gate)).inserted { actions.append(.watch(gate)) }
    }
}
