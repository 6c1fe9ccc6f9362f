import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Messages at which the broker ends connections; see ``MessageSuspicion``.
extension ClientCoordinator {
    /// Continues with the strikes that an earlier process stored for a message.
    func suspect(_ token: Token, strikes: Int) {
        suspicion.resume(token, strikes: strikes)
        suspicionChanged()
    }

    /// Does what the suspicion asks for. Called after each of its inputs.
    func suspicionChanged() {
        // A rule of the queue may have ended the message while it waited to be sent again.
        if let suspect = suspicion.suspectedToken, !publishing.queue.contains(suspect) { suspicion.finished(suspect) }
        isSuspicious = suspicion.isSuspicious
        // A higher limit sends messages again. Those of a destroyed session wait for the end of the connection instead.
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

    /// Packets were written while messages are sent one at a time.
    func noteWrite() {
        guard let only = driver.unacknowledgedPublishes.only else { return }
        suspicion.sent(only, followsOtherBytes: driver.followsUnwrittenBytes, now: loop.now)
        if !driver.hasUnwrittenBytes { suspicion.lastByteWritten(now: loop.now) }
    }

    /// The broker answered a PUBLISH, or its message ended in another way, while messages are sent one at a time.
    func messageFinished(_ token: Token) {
        suspicion.finished(token)
        suspicionChanged()
    }

    /// A connection ended. Decides what that says about the messages in flight, before the supervisor decides when to connect
    /// again.
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
        // After `disconnect()` the broker closes, too: that answers the end that this side began.
        guard reason != .requested, network == .available else { return .other }
        return ConnectionEnding(reason, channel, endpoint: "", isEstablished: true).isByPeer ? .peerClosed : .other
    }

    /// Ends a message that ended connections. A message store keeps it as rejected.
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
