public import MQTTCodec

/// Helps the caller to find a message that makes the server close connections. The functions limit sending, and stop
/// the delivery of one message.
extension ClientEngine {
    /// Limits how many PUBLISH packets of QoS 1 and 2 may be unacknowledged, on this connection and on later
    /// connections.
    ///
    /// The limit applies in addition to the server's receive maximum. ``publishCapacity`` takes the limit into account.
    /// Messages of an earlier connection are sent again, in order, before new messages. A message no longer counts when
    /// its PUBREC has arrived. The limit does not delay PUBREL packets. A lower limit does not affect messages that
    /// were already sent, or prepared for sending, on this connection.
    ///
    /// - Parameters:
    ///   - limit: The limit. `nil`, the initial state, means no limit. 0 holds back all QoS 1 and 2 messages.
    ///   - now: The current time.
    ///   - buffer: Receives the messages that waited for a higher limit.
    ///   - actions: Receives the failures of waiting messages that cannot be written.
    public mutating func setSendLimit(
        _ limit: Int?, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        sendLimit = max(limit ?? .max, 0)
        if isConnected { pump(now: MonotonicInstant(now), into: &buffer, &actions) }
    }

    /// The QoS 1 and 2 PUBLISH packets that were written on the current or last connection and have no answer.
    ///
    /// After a connection ends, the value describes the packets that had no answer when it ended, until the next
    /// connection opens. During a connection, each access searches all unfinished deliveries.
    public var unacknowledgedPublishes: UnacknowledgedPublishes {
        link.unacknowledgedAtEnd ?? unacknowledgedNow
    }

    var unacknowledgedNow: UnacknowledgedPublishes {
        var (publishCount, otherCount) = (0, 0)
        var only: Token?
        var last: MonotonicInstant?
        outgoing.forEachUnanswered { exchange, sentAt in
            guard exchange.kind == .untilPubAck || exchange.kind == .untilPubRec else {
                otherCount += 1
                return
            }
            publishCount += 1
            only = exchange.token
            last = max(last ?? sentAt, sentAt)
        }
        return UnacknowledgedPublishes(
            count: publishCount, only: publishCount == 1 && otherCount == 0 ? only : nil, lastSentAt: last?.instant,
            lastQoS0SentAt: link.unacknowledgeableSentAt?.instant)
    }

    /// Gives up a message: ends its delivery, and never sends the message again. The engine reports no action for this
    /// message.
    ///
    /// The message must have QoS 1 or 2, and must wait to be sent again. All messages wait after the end of their
    /// connection. A message that was written on the current connection cannot be given up, because its answer may
    /// already be on the way.
    ///
    /// The packet id of a QoS 1 message is free at once. The packet id of a written QoS 2 message stays reserved until
    /// the session ends. The server may have stored this id, and would treat a new message with this id as a repetition
    /// (MQTT 5.0, section 4.3.3).
    ///
    /// No PUBREL is sent for the message. PUBREL could make the server deliver a message that has failed for the
    /// caller. PUBREL could also make the server close the next connection, as PUBLISH did. Then the caller could not
    /// solve the problem by giving up a message.
    ///
    /// - Parameter token: The token of the message.
    /// - Returns: `true` if the message was given up. `false` if the engine does not have the message, if it was
    ///   written on the current connection, or if the server has it (PUBREC).
    public mutating func giveUp(_ token: Token) -> Bool {
        guard let id = outgoing.id(of: token), let exchange = outgoing.exchange(of: id), let message = exchange.message,
            exchange.sentAt == nil
        else { return false }
        if memory.header(of: message).qos == .exactlyOnce, exchange.isWritten {
            guard let reserved = outgoing.reserve(id) else { return false }
            if let message = reserved.message { memory.discard(message) }
        } else {
            endExchange(id)
        }
        if exchange.holdsQuota { link.returnQuota() }
        return true
    }
}
