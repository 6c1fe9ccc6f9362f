public import MQTTCodec

/// What a caller that keeps the session on disk tells the engine; see ``EngineConfiguration/awaitsStorage``.
extension ClientEngine {
    /// A message that an earlier process published and the server has not finished.
    public enum UnfinishedMessage: Sendable {
        /// It was written with this packet id, or was about to be.
        case sent(OutgoingMessage, PacketID)
        /// The server has it (PUBREC); its outcome is reported under this name.
        case received(Token, PacketID)
        /// ``ClientEngine/giveUp(_:)`` ended this QoS 2 message. Its packet id stays reserved, and no end is reported.
        case givenUp(PacketID)
    }

    /// Takes over what an earlier process left of the session: before the first connection, and once.
    ///
    /// The engine sends the messages again when the server has kept the session; otherwise
    /// ``EngineConfiguration/sessionLossPolicy`` says what happens.
    ///
    /// - Parameters:
    ///   - messages: Outgoing messages, in the order in which they were sent first.
    ///   - ids: The packet ids of QoS 2 messages that were acknowledged with PUBREC and whose PUBREL has not come.
    ///   - actions: Gets the failures of messages that cannot be taken over.
    public mutating func restore(
        _ messages: [UnfinishedMessage], incoming ids: some Sequence<PacketID>, _ actions: inout ActionList
    ) {
        guard case .idle = phase else { preconditionFailure("restored during a connection") }
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

    /// The caller has stored that an exchange has come this far: what it waited with is written.
    ///
    /// - Parameters:
    ///   - token: The name of the message.
    ///   - id: Its packet id.
    ///   - now: The present.
    ///   - buffer: Gets PUBLISH or PUBREL, when there is a connection on which it is the message's turn; otherwise it goes
    ///     when that comes.
    ///   - actions: Gets the failure of a message that cannot be written, and the actions of messages that are then sent again.
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

    /// The caller has stored that a QoS 2 message which it received is complete: the server is told by PUBCOMP. Of one that
    /// was refused it knows already.
    ///
    /// - Parameters:
    ///   - id: The packet id.
    ///   - now: The present.
    ///   - buffer: Gets PUBCOMP, when the connection on which PUBREL came still lasts.
    public mutating func storedRelease(_ id: PacketID, now: Instant, into buffer: inout PacketBuffer) {
        guard incoming.endRelease(id), isConnected else { return }
        link.encoder.encodeSuccess(.pubComp, id, into: &buffer)
        written(now: MonotonicInstant(now))
    }
}
