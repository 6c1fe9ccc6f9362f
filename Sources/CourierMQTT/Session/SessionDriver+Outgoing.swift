import CourierTransport
import MQTTCodec
import MQTTEngine

/// Moves messages from the ``OutgoingQueue`` to the engine.
extension SessionDriver: LoopWork {
    /// Sends messages that were just accepted. May be called from any thread, but not under a lock.
    ///
    /// If the loop's thread sleeps, the calling thread may send the messages itself; see ``EventLoop/borrow(_:)``.
    func wakeForMessages() { if !loop.borrow(sendAtOnce) { loop.enqueue(self) } }

    /// If a batch has at least this number of messages, the loop expects more messages soon. The loop then checks the
    /// queue again by itself, so that callers need not wake the loop.
    private static let burstCount = 8

    /// Sends waiting messages until no more may be sent.
    ///
    /// After a large batch, the loop checks the queue again a moment later, because more messages probably follow. So
    /// callers do not have to wake the loop for each message, and one write contains several messages.
    package func runOnLoop() {
        while true {
            let batch = sendBatch(through: lastOfTurn())
            if batch.count == 0 {
                guard batch.hasLater else { return }
                if state.pointee.awaited != nil { return loop.enqueue(self) }
            } else if batch.isAll, batch.count >= Self.burstCount {
                return loop.runSoon(self)
            }
        }
    }

    /// Sends waiting messages on the thread of a caller, which has borrowed the loop. Returns false if the loop's own
    /// thread must continue.
    private func sendAtOnce() -> Bool {
        for _ in 0..<2 {  // The second round usually finds no more messages.
            guard state.pointee.channel?.isReadyToSend == true, state.pointee.engine.isConnected,
                state.pointee.tap == nil, !state.pointee.pause.isOn
            else { return false }
            let batch = sendBatch(through: lastOfTurn())
            if batch.count == 0 { return !batch.hasLater }
        }
        return false
    }

    /// Returns the number of the last message that may be sent now.
    ///
    /// A thread may give the loop a job, such as sending SUBSCRIBE, and then publish a message. The message must not
    /// overtake the job. So a message is sent only after the loop has begun all jobs that it received before the
    /// message was accepted.
    private func lastOfTurn() -> Int {
        let last = outgoing.lastNumber
        // Read the number of jobs after `lastNumber`. In this order, the number includes all jobs that the loop
        // received before the messages up to `last` were accepted.
        let count = loop.handedOverCount
        if let awaited = state.pointee.awaited, loop.begunCount >= awaited.jobCount {
            state.pointee.lastOfTurn = awaited.number
            state.pointee.awaited = nil
        }
        if loop.begunCount >= count {
            state.pointee.lastOfTurn = last
            state.pointee.awaited = nil
        } else if state.pointee.awaited == nil, last > state.pointee.lastOfTurn {
            state.pointee.awaited = (last, count)
        }
        return state.pointee.lastOfTurn
    }

    /// Gives a batch of waiting messages to the engine.
    ///
    /// - Returns: `count` is the number of messages in the batch. `isAll` is true if no other message may be sent now.
    ///   `hasLater` is true if other messages must wait until the loop has begun jobs that it received before them.
    private func sendBatch(isLast: Bool = false, through last: Int) -> (count: Int, isAll: Bool, hasLater: Bool) {
        var views: [MessageView] = []
        swap(&views, &state.pointee.views)
        let isFull = state.pointee.channel?.isAboveHighWater != false
        let taken = outgoing.take(
            &views, quota: state.pointee.engine.publishCapacity,
            canWrite: state.pointee.engine.isConnected && (isLast || !isFull), isLast: isLast, through: last,
            now: loop.now)
        let count = views.count
        state.pointee.isStalled = count == 0 && taken.isBlocked
        if count > 0 {
            views.withUnsafeBufferPointer {
                state.pointee.engine.publish($0, now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
            }
            views.removeAll(keepingCapacity: true)
        }
        swap(&views, &state.pointee.views)
        if count > 0 { settle() }
        if taken.needsAttention { observer.tookMessages(taken) }
        return (count, taken.isAll, taken.hasLater)
    }

    /// Sends waiting messages if the last check of the queue found no message that may be sent. The messages may have
    /// waited for the socket, for acknowledgements, or for a connection.
    func resumeIfStalled() {
        guard state.pointee.isStalled, !state.pointee.isPerforming else { return }
        runOnLoop()
    }

    /// Sends all messages that the broker's quota allows, because the connection is about to end. Ignores the number of
    /// unsent bytes.
    func sendAll() {
        while sendBatch(isLast: true, through: .max).count > 0 {}
        forgetBacklog()  // The bytes of these messages may exceed the limit for waiting bytes.
    }
}

/// Functions for ``MessageSuspicion``, which finds messages that make the broker end connections. These functions limit
/// the PUBLISH packets in flight, and report which messages are in flight.
extension SessionDriver {
    /// Sets the maximum number of unacknowledged PUBLISH packets; `nil` means no limit.
    func setSendLimit(_ limit: Int?) {
        tell { $0.engine.setSendLimit(limit, now: $1, into: &$0.buffer, &$0.actions) }
        if limit != 0 { loop.enqueue(self) }
    }

    /// The PUBLISH packets that the broker has not answered. The value stays the same after the end of the connection.
    var unacknowledgedPublishes: UnacknowledgedPublishes {
        loop.preconditionOnLoop()
        return state.pointee.engine.unacknowledgedPublishes
    }

    /// True while bytes of the last write are unsent. After the end of the connection, true if bytes were unsent at the
    /// end.
    var hasUnwrittenBytes: Bool { state.pointee.hasUnwrittenBytes }

    /// True if bytes of earlier writes were unsent when the last write began.
    var followsUnwrittenBytes: Bool { state.pointee.followsUnwrittenBytes }

    /// Gives up a message, so that it is not sent again on the next connection. Has no effect if the message was
    /// written on the current connection, or if the broker has answered it with PUBREC.
    func giveUp(_ token: Token) {
        loop.preconditionOnLoop()
        _ = state.pointee.engine.giveUp(token)
    }
}
