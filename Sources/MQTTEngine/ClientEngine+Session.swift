import MQTTCodec

/// Changes the configuration, and ends sessions.
extension ClientEngine {
    /// Uses `configuration` for the next connection. Traps during a connection.
    ///
    /// A different client id means a different session. In this case, ``EngineConfiguration/sessionLossPolicy`` selects
    /// what happens to the messages in flight. If `isSameServer` is true and the new configuration allows it, the
    /// engine keeps the version that the last server supports. The acknowledgement mode does not change.
    public mutating func reconfigure(
        _ configuration: EngineConfiguration, isSameServer: Bool, _ actions: inout ActionList
    ) {
        guard case .idle = phase else { preconditionFailure("the engine is reconfigured during a connection") }
        // Compare UTF-8 bytes, as servers do. Swift's `==` treats composed and decomposed é as equal.
        let isSameClient = configuration.connect.clientID.utf8.elementsEqual(self.configuration.connect.clientID.utf8)
        let isSameWish = configuration.connect.version == self.configuration.connect.version
        let acknowledgements = self.configuration.acknowledgements
        self.configuration = configuration
        self.configuration.acknowledgements = acknowledgements
        // If the configuration has no fallback, do not keep 3.1.1, because the configuration may need features of MQTT
        // 5.
        let mayKeepVersion = configuration.fallsBackToVersion311 || version == configuration.connect.version
        if !isSameServer || !isSameWish || !mayKeepVersion {
            version = configuration.connect.version
            hasConfirmedVersion = false
        }
        if !isSameClient { sessionLost(&actions) }
        if !isSameClient || !isSameServer { sessionChanges() }
    }

    /// Sets whether the engine or the caller acknowledges the messages that arrive from now on.
    public mutating func setAcknowledgements(_ mode: EngineConfiguration.AcknowledgementMode) {
        configuration.acknowledgements = mode
    }

    /// Forgets the session with all unfinished deliveries in both directions. Traps during a connection.
    ///
    /// Published messages that are in flight fail with ``EngineAction/Failure/dropped``.
    public mutating func forgetSession(_ actions: inout ActionList) {
        guard case .idle = phase else { preconditionFailure("the session is forgotten during a connection") }
        for id in outgoing.idsInOrder() {
            guard let exchange = outgoing.exchange(of: id), !exchange.kind.isGivenUp else { continue }
            actions.append(.failed(exchange.token, .dropped))
        }
        outgoing = OutgoingExchanges()
        // `sessionLost()` keeps the serial numbers, so that no handle of this session matches a message of the next
        // session.
        incoming.sessionLost()
        memory = MessageMemory()
        sessionChanges()
    }

    /// Ends all unfinished deliveries of the last session, because the server has no session or a different session.
    /// `sessionLossPolicy` selects what happens to the messages.
    mutating func sessionLost(_ actions: inout ActionList) {
        incoming.sessionLost()
        for id in outgoing.idsInOrder() {
            guard let exchange = endExchange(id), !exchange.kind.isGivenUp else { continue }
            switch configuration.sessionLossPolicy {
            case .resend where exchange.message != nil: actions.append(.returned(exchange.token))
            // PUBREL may have been sent, so the PUBLISH must not be sent again ([MQTT-4.3.3-6]). The client cannot know
            // whether the server delivered the message.
            case .resend, .fail: actions.append(.failed(exchange.token, .sessionLost))
            case .drop: actions.append(.failed(exchange.token, .dropped))
            }
        }
    }
}
