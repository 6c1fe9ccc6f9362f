import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Handles the events of the session driver.
extension ClientCoordinator {
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: RawSpan) {
        distributor.received(message, topic: topic, payload: payload, properties)
    }

    func receivedAll() {
        distributor.receivedAll()
        supervisor.bytesReceived(now: loop.now)
    }

    /// Reports to the supervisor that reading from the socket was paused or resumed, because silence during a pause
    /// does not mean that the connection is lost. Also called when the driver reads for a short time during a pause.
    func readingChanged(isPaused: Bool) {
        if isPaused { keepAliveDisturbed() }
        // A slow reader may request a pause while there is no connection, or before CONNACK. The driver does not pause
        // reading then. So ask the driver, and do not use `isPaused`.
        if supervisor.setReadingPaused(driver.isReadingHalted, now: loop.now) { setTimer() }
    }

    func wrote() {
        if supervisor.bytesSent(now: loop.now) { setTimer() }
        if isSuspicious { noteWrite() }
    }

    func drained() {
        if isSuspicious { suspicion.lastByteWritten(now: loop.now) }
    }

    func progressed(_ progress: ExchangeProgress) {
        switch progress {
        case .acknowledged(let token, let code): answered([OutgoingQueue.Answer(token: token, code: code)])
        case .sent(let token, let id):
            durable?.outgoing.sent(token, id) { [driver] in driver.stored(token, id) }
        case .receivedByServer(let token):
            if isSuspicious { messageFinished(token) }
            durable?.outgoing.receivedByServer(token) { [driver] in driver.stored(token, $0) }
        case .givenUp(let token, let id):
            guard let durable else { return driver.stored(token, id) }
            durable.outgoing.gaveUp(token) { [driver] in driver.stored(token, id) }
        case .incomingReleased(let id):
            durable?.inbox.forget(id.rawValue) { [driver] in driver.storedRelease(id) }
        case .incomingReplaced(let id): durable?.inbox.forget(id.rawValue)
        }
    }

    func answered(_ answers: [OutgoingQueue.Answer]) {
        publishing.results.report(answers, now: loop.now)
        if isSuspicious { for answer in answers { messageFinished(answer.token) } }
    }

    func performed(_ action: EngineAction) {
        switch action {
        case .connected(let connAck): established(connAck)
        case .acknowledged(let token, let code, let properties):
            ended(token, .acknowledged(code, properties))
        case .failed(let token, let failure):
            if subscriptions.failed(token, failure) {
                tellTopics()
            } else if token == EntryTable.unacknowledged {
                warnOfUnsent(failure)
            } else {
                ended(token, failure == .expired ? .expired : .engine(failure))
            }
        case .returned(let token):
            publishing.results.report(publishing.queue.returned([token]))
            scheduleExpiry()  // The message waits again, so it may expire.
        case .skipped(let message): distributor.skipped(message, limit: settings.maximumPacketSize)
        case .qosDowngraded: tell(.deliveryDowngraded(from: .two, to: .one))
        case .subscribed(let token, let subAck):
            subscriptions.subscribed(token, subAck)
            distributor.subscriptionsChanged()
            tellTopics()
        case .unsubscribed(let token, let unsubAck):
            subscriptions.unsubscribed(token, unsubAck)
            distributor.subscriptionsChanged()
            tellTopics()
        case .pingSent: pinged()
        case .pongReceived(let roundTrip):
            pingedAt = nil
            tell(.pongReceived(timeTaken: roundTrip.wholeMilliseconds))
            keepAliveAnswered()
            if isSuspicious {
                suspicion.pingAnswered(now: loop.now)
                suspicionChanged()
            }
        case .authenticationContinued(let auth): answer(auth)
        case .authenticated:
            settings.log.log(.info, source: "connection", clientID: info?.clientId, "authenticated anew")
        case .message, .incomingReleased, .incomingReplaced, .sent, .receivedByServer, .givenUp, .close: break
        }
    }

    /// Removes an ended message from the outgoing queue, and reports its result.
    private func ended(_ token: Token, _ cause: EndedPublish.Cause) {
        if isSuspicious { messageFinished(token) }
        guard let ended = publishing.queue.end(token, cause) else { return }
        publishing.results.report([ended])
    }

    /// Logs, at most once a minute, that a QoS 0 message was dropped because it cannot be sent to this broker. No
    /// caller gets an error, because the publish of a QoS 0 message succeeds before the message is sent.
    private func warnOfUnsent(_ failure: EngineAction.Failure) {
        switch failure {
        case .notSupportedByServer, .notEncodable: break
        case .notConnected, .connectionLost, .sessionLost, .dropped, .expired, .quotaExceeded: return
        }
        if let last = warnedOfUnsentAt, loop.now < last.advanced(by: .seconds(60)) { return }
        warnedOfUnsentAt = loop.now
        let error = CourierError(failure, of: .unacknowledgedMessage)
        settings.log.log(.warning, source: "publishing", clientID: info?.clientId, "Dropped: \(error.message)")
    }

    /// Reports that PINGREQ was sent. If several PINGREQ packets wait for their PINGRESP, only the first of them is
    /// reported.
    func pinged() {
        guard pingedAt == nil else { return }
        pingedAt = loop.now
        tell(.ping(url: connectionName ?? ""))
    }

    /// Called when the connection has ended. Reports a failed ping if a PINGREQ still waits for its PINGRESP.
    func pingFailed() {
        guard let pingedAt else { return }
        self.pingedAt = nil
        tell(
            .pingFailure(
                timeTaken: pingedAt.duration(to: loop.now).wholeMilliseconds,
                error: CourierError(.timedOut, "The connection ended before the broker answered PINGREQ.")))
    }

    func opened() {
        unansweredConnects += 1
        tell(.connectSent)
    }

    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason) {
        outcome = result(of: reason, cause)
        pingFailed()
        keepAliveEnded(reason)
        judgeLoss(reason, cause)
        lost()
        // If the client itself ended the connection, report the error of a failed extended authentication, if there is
        // one. In all other cases, `reason` contains the cause.
        let error = reason == .requested ? authenticationFailure : nil
        authenticationFailure = nil
        tell(.closed(reason, cause, error: error))
        answerCloseWaiters()
        outcome = nil
        finishIfReleased()
    }

    /// Returns the result for callers of `disconnect()` after a connection has ended: success if DISCONNECT was sent,
    /// otherwise an error.
    private func result(of reason: CloseReason, _ cause: ChannelCloseReason) -> Result<Void, CourierError> {
        if driver.hasSaidGoodbye { return .success(()) }
        guard case .closing(let closing) = supervisor.phase, case .connection(_, lost: let loss) = closing.ended else {
            return .failure(Self.unconnected)
        }
        if case .error(let error)? = loss { return .failure(error) }
        let endpoint = connectionName ?? ""
        guard reason == .requested, cause == .closedByOwner else {
            return .failure(ConnectionEnding(reason, cause, endpoint: endpoint, isEstablished: true).error)
        }
        return .failure(
            CourierError(
                .connectionLost,
                "The broker \(endpoint) read no more bytes: the connection was dropped before DISCONNECT was written."))
    }
}
