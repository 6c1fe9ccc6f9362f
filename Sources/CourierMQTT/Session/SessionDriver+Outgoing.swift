import CourierTransport
import MQTTCodec
import MQTTEngine

/// From the ``OutgoingQueue`` to the engine.
extension SessionDriver: LoopWork {
    /// Sends messages that were just accepted. From any thread, without a lock.
    ///
    /// If the loop sleeps, the calling thread sends them itself; see ``EventLoop/borrow(_:)``.
    func wakeForMessages() { if !loop.borrow(sendAtOnce) { loop.enqueue(self) } }

    /// From how many messages on the loop expects more of them, and does not ask to be woken for them.
    private static let burstCount = 8

    /// Sends waiting messages until no more may be sent.
    ///
    /// After many messages the loop checks the queue again a moment later. So a caller that publishes without a pause wakes no
    /// thread, and one write carries several messages.
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

    /// Sends waiting messages on a borrowed loop; `false` when the loop's thread is to continue.
    private func sendAtOnce() -> Bool {
        for _ in 0..<2 {  // The second time nearly always finds no message.
            guard state.pointee.channel?.isReadyToSend == true, state.pointee.engine.isConnected,
                state.pointee.tap == nil, !state.pointee.pause.isOn
            else { return false }
            let batch = sendBatch(through: lastOfTurn())
            if batch.count == 0 { return !batch.hasLater }
        }
        return false
    }

    /// The number of the last message that may be sent now.
    ///
    /// A job that a thread gave to the loop is performed before messages that the same thread publishes later, so that a message
    /// does not overtake an earlier SUBSCRIBE. A message may be sent when the loop has begun all jobs that were given before its
    /// acceptance.
    private func lastOfTurn() -> Int {
        let last = outgoing.lastNumber
        let count = loop.handedOverCount  // After the line above: counts all jobs in front of these messages.
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

    /// Gives a batch of messages to the engine.
    ///
    /// - Returns: How many these are, whether none was left that may go out, and whether messages wait for their turn.
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

    /// Continues with waiting messages, if they had to wait: for the socket, for acknowledgements, or for a connection.
    func resumeIfStalled() {
        guard state.pointee.isStalled, !state.pointee.isPerforming else { return }
        runOnLoop()
    }

    /// Sends all messages that the broker's quota allows, also while the socket takes no more: the connection ends with them.
    func sendAll() {
        while sendBatch(isLast: true, through: .max).count > 0 {}
        forgetBacklog()  // These may come on top.
    }
}

/// The functions for ``MessageSuspicion``.
extension SessionDriver {
    /// Limits how many PUBLISH packets may be unacknowledged; `nil` is no limit.
    func setSendLimit(_ limit: Int?) {
        tell { $0.engine.setSendLimit(limit, now: $1, into: &$0.buffer, &$0.actions) }
        if limit != 0 { loop.enqueue(self) }
    }

    /// The PUBLISH packets that the broker has not answered, also after the end of the connection.
    var unacknowledgedPublishes: UnacknowledgedPublishes {
        loop.preconditionOnLoop()
        return state.pointee.engine.unacknowledgedPublishes
    }

    /// Whether bytes of the last write wait for the peer; after the end of the connection, whether some waited then.
    var hasUnwrittenBytes: Bool { state.pointee.hasUnwrittenBytes }

    /// Whether bytes of earlier writes waited for the peer when the last write began.
    var followsUnwrittenBytes: Bool { state.pointee.followsUnwrittenBytes }

    /// Never sends a message again that waits for the next connection.
    func giveUp(_ token: Token) {
        loop.preconditionOnLoop()
        _ = state.pointee.engine.giveUp(token)
    }
}
