public import MQTTCodec

/// What a caller needs to find a message that ends connections: fewer messages at a time, and the end of one of them.
extension ClientEngine {
    /// Limits how many PUBLISH packets of QoS 1 and 2 may be unacknowledged, on this connection and on later ones.
    ///
    /// The limit holds beside the server's receive maximum. ``publishCapacity`` follows it. Messages of an earlier connection
    /// are sent again in order before new ones. A message past PUBREC does not count. PUBREL is sent regardless of the limit.
    /// So are messages that have had their turn: a lower limit takes none of them back.
    ///
    /// - Parameters:
    ///   - limit: The limit. `nil`, the default, is none; 0 holds back all messages of QoS 1 and 2.
    ///   - now: The present.
    ///   - buffer: Gets the messages that waited for a higher limit.
    ///   - actions: Gets the failures of waiting messages that cannot be written.
    public mutating func setSendLimit(
        _ limit: Int?, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        sendLimit = max(limit ?? .max, 0)
        if isConnected { pump(now: MonotonicInstant(now), into: &buffer, &actions) }
    }

    /// The PUBLISH packets of QoS 1 and 2 that were written on this connection, or on the last one, and have no answer.
    ///
    /// When a connection has ended, the value says what had no answer at its end, until the next one is opened. During a
    /// connection each call searches all exchanges.
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

    /// Ends the exchange of a message for good: the engine never sends the message again. No action follows.
    ///
    /// For a message of QoS 1 or 2 that waits to be sent again, which is so when its connection has ended. A message that
    /// was written on the present connection cannot be given up, because its answer may be on its way under the packet id.
    ///
    /// The packet id of a QoS 1 message is free at once. That of a QoS 2 message that was written stays reserved until the
    /// session ends: the server may have stored the id, and would take a new message under the id for a repetition
    /// (4.3.3). No PUBREL is sent for it. PUBREL would have the server pass on a message that has failed for the caller,
    /// or end the next connection as the PUBLISH did, and then no message is left to be given up.
    ///
    /// - Parameter token: The name of the message.
    /// - Returns: Whether the message was given up. `false` if the engine does not have it, if it was written on the present
    ///   connection, or if the server has it (PUBREC).
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
