public import MQTTCodec

/// Methods for a caller that stores the session on disk; see ``EngineConfiguration/awaitsStorage``.
extension ClientEngine {
    /// A message of an earlier process whose delivery is not finished.
    public enum UnfinishedMessage: Sendable {
        /// The PUBLISH was written with this packet id, or was about to be written.
        case sent(OutgoingMessage, PacketID)
        /// The server has the message (PUBREC). The outcome is reported with this token.
        case received(Token, PacketID)
        /// ``ClientEngine/giveUp(_:)`` ended this QoS 2 message. Its packet id stays reserved, and no outcome is
        /// reported.
        case givenUp(PacketID)
    }

    /// Restores the session that an earlier process left. Call this function once, before the first connection.
    ///
    /// If the server has kept the session, the engine sends the messages again. Otherwise,
    /// ``EngineConfiguration/sessionLossPolicy`` selects what happens to the messages.
    ///
    /// - Parameters:
    ///   - messages: Outgoing messages, in the order in which they were first sent.
    ///   - ids: The packet ids of received QoS 2 messages whose PUBREC was sent and whose PUBREL has not arrived.
    ///   - actions: Receives the failures of messages that cannot be restored.
    public mutating func restore(
        _ messages: [UnfinishedMessage], incoming ids: some Sequence<PacketID>, _ actions: inout ActionList
    ) {
        guard case .idle = phase else { preconditionFailure("messages are restored during a connection") }
        var exchanges: [(id: PacketID, kind: OutgoingExchanges.Kind, token: Token, message: MessageMemory.Place?)] = []
        for message in messages {
            switch message {
            case .received(let token, let id): exchanges.append((id, .untilPubComp, token, nil))
            case .givenUp(let id): exchanges.append((id, .untilSessionEnds, 0, nil))
            case .sent(let message, let id):
                let kind: OutgoingExchanges.Kind = message.qos == .exactlyOnce ? .untilPubRec : .untilPubAck
                do throws(EncodeError) {
                    exchanges.append((id, kind, message.token, try memory.keep(message)))
                } catch {
                    actions.append(.failed(message.token, .notEncodable(error)))
                }
            }
        }
        for (exchange, isTaken) in zip(exchanges, outgoing.restore(exchanges)) where !isTaken {
            if let message = exchange.message { memory.discard(message) }
            if !exchange.kind.isGivenUp { actions.append(.failed(exchange.token, .dropped)) }
        }
        incoming.restore(ids)
    }

    /// Continues the delivery of a message after the caller stored its last step. Writes the packet that waited until
    /// the step was stored.
    ///
    /// - Parameters:
    ///   - token: The token of the message.
    ///   - id: The packet id of the message.
    ///   - now: The current time.
    ///   - buffer: Receives PUBLISH or PUBREL, if a connection is open and the packet does not have to wait for another
    ///     message. Otherwise, the packet is written later.
    ///   - actions: Receives the failure of a message that cannot be written. After the failure, waiting messages may
    ///     be sent, so their actions follow.
    public mutating func stored(
        _ token: Token, _ id: PacketID, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        let now = MonotonicInstant(now)
        guard let exchange = outgoing.release(id, token), isConnected else { return }
        if let message = exchange.message {
            guard !link.resendStack.contains(id) else { return }
            guard let delivery = Delivery(qos: memory.header(of: message).qos, packetID: id) else { return }
            var failure = refusal(of: memory.header(of: message), now: now)
            if failure == nil {
                do throws(EncodeError) {
                    try link.write(memory.view(message), delivery, isFirst: true, now: now, into: &buffer)
                } catch {
                    failure = .notEncodable(error)
                }
            }
            if let failure {
                endExchange(id)
                link.returnQuota()
                actions.append(.failed(token, failure))
                return pump(now: now, into: &buffer, &actions)
            }
            outgoing.markPublished(id, at: now)
            written(now: now)
            awaitAcknowledgement(now: now)
        } else {
            release(id, exchange.kind, now: now, into: &buffer)
        }
    }

    /// Writes PUBCOMP after the caller stored that the delivery of a received QoS 2 message ended. A refused message
    /// needs no PUBCOMP, because PUBREC already ended its delivery.
    ///
    /// - Parameters:
    ///   - id: The packet id.
    ///   - now: The current time.
    ///   - buffer: Receives PUBCOMP, if the connection on which PUBREL arrived is still open.
    public mutating func storedRelease(_ id: PacketID, now: Instant, into buffer: inout PacketBuffer) {
        guard incoming.endRelease(id), isConnected else { return }
        link.encoder.encodeSuccess(.pubComp, id, into: &buffer)
        written(now: MonotonicInstant(now))
    }
}
