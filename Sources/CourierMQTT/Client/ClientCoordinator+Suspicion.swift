import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Uses ``MessageSuspicion`` to find messages that make the broker end connections.
extension ClientCoordinator {
    /// Restores the number of strikes that an earlier process stored for a message. A strike is a connection that ended
    /// right after this message was sent.
    func suspect(_ token: Token, strikes: Int) {
        suspicion.resume(token, strikes: strikes)
        suspicionChanged()
    }

    /// Applies the decisions of `suspicion`: the limit of messages in flight, a ping, and the timer. Called after each
    /// call that may change `suspicion`.
    func suspicionChanged() {
        // Stop suspecting a message if the queue has removed it while the message waited to be sent again.
        if let suspect = suspicion.suspectedToken, !publishing.queue.contains(suspect) { suspicion.finished(suspect) }
        isSuspicious = suspicion.isSuspicious
        // If the new limit is higher, the driver resumes sending. After `destroy()`, the driver must send no message
        // until the connection has ended. So do not change the limit during this time.
        if sendLimit != suspicion.sendLimit, !driver.isForgettingSession {
            sendLimit = suspicion.sendLimit
            driver.setSendLimit(sendLimit)
        }
        if suspicion.wantsPing, pingedAt == nil { driver.ping() }
        setSuspicionTimer(suspicion.deadline)
    }

    private func setSuspicionTimer(_ deadline: ContinuousClock.Instant?) {
        guard suspicionTimer?.deadline != deadline else { return }
        if let suspicionTimer { loop.cancel(suspicionTimer.token) }
        suspicionTimer = nil
        guard let deadline else { return }
        let token = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            suspicionTimer = nil
            suspicion.timerFired(now: loop.now)
            suspicionChanged()
        }
        suspicionTimer = (token, deadline)
    }

    /// If exactly one message is in flight, reports to `suspicion` that this message was written. Called only while
    /// `isSuspicious` is true.
    func noteWrite() {
        guard let only = driver.unacknowledgedPublishes.only else { return }
        suspicion.sent(only, followsOtherBytes: driver.followsUnwrittenBytes, now: loop.now)
        if !driver.hasUnwrittenBytes { suspicion.lastByteWritten(now: loop.now) }
    }

    /// Reports to `suspicion` that the broker has acknowledged a message, or that the message ended for another reason.
    /// Called only while `isSuspicious` is true.
    func messageFinished(_ token: Token) {
        suspicion.finished(token)
        suspicionChanged()
    }

    /// Decides whether a message in flight made the broker end the connection. Called before the supervisor decides
    /// about the next attempt.
    func judgeLoss(_ reason: CloseReason, _ channel: ChannelCloseReason) {
        let unanswered = MessageSuspicion.Unanswered(
            publishes: driver.unacknowledgedPublishes, hasUnwrittenBytes: driver.hasUnwrittenBytes)
        let judgement = suspicion.connectionLost(lossCause(reason, channel), unanswered, now: loop.now)
        supervisor.isLossExplained = judgement.explainsLoss
        switch judgement.verdict {
        case .none: break
        case .storeStrikes(let token, let count): publishing.store?.strike(token, count)
        case .end(let rejection): reject(rejection)
        }
        suspicionChanged()
    }

    private func lossCause(_ reason: CloseReason, _ channel: ChannelCloseReason) -> MessageSuspicion.Cause {
        if case .disconnectedByServer(let disconnect) = reason { return .peerDisconnected(disconnect.reasonCode) }
        // Suspect no message if the client ended the connection itself, or if there is no network.
        guard reason != .requested, network == .available else { return .other }
        return ConnectionEnding(reason, channel, endpoint: "", isEstablished: true).isByPeer ? .peerClosed : .other
    }

    /// Ends the publish of a message that made the broker end connections. The publish fails, and the message is not
    /// sent again. A message store keeps the message, and marks it as rejected.
    private func reject(_ rejection: MessageSuspicion.Rejection) {
        let (token, queue) = (rejection.token, publishing.queue)
        guard let message = queue.message(token) else { return }
        driver.giveUp(token)
        let error = CourierError(
            .publishRefused, rejection.text(broker: connectionName ?? "", topic: message.topic.quoted()),
            reasonCode: rejection.code.map { ReasonCode($0) }, cause: MessageRejection(message))
        let row = queue.row(of: token)
        guard let ended = queue.end(token, .rejected(error)) else { return }
        if let row { publishing.store?.reject(row, error) }
        settings.log.log(.error, source: "delivery", clientID: info?.clientId, error.message)
        publishing.results.report([ended])
        tell(.messageRejected(message: message, error: error))
    }
}
