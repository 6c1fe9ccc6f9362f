import MQTTCodec

/// What changes between the connections of a session.
extension ClientEngine {
    /// Takes over `configuration` for the next connection. Between connections only.
    ///
    /// Another client id means another session: messages in flight are dealt with as ``EngineConfiguration/sessionLossPolicy``
    /// says. With `isSameServer` a version that the last server turned out to speak is kept, if the configuration may
    /// fall back to it.
    public mutating func reconfigure(
        _ configuration: EngineConfiguration, isSameServer: Bool, _ actions: inout ActionList
    ) {
        guard case .idle = phase else { preconditionFailure("reconfigured during a connection") }
        // As servers compare client ids: Swift's `==` calls composed and decomposed é equal.
        let isSameClient = configuration.connect.clientID.utf8.elementsEqual(self.configuration.connect.clientID.utf8)
        let isSameWish = configuration.connect.version == self.configuration.connect.version
        let acknowledgements = self.configuration.acknowledgements
        self.configuration = configuration
        self.configuration.acknowledgements = acknowledgements
        // What the configuration asks for may be nothing that 3.1.1 can carry.
        let mayKeepVersion = configuration.fallsBackToVersion311 || version == configuration.connect.version
        if !isSameServer || !isSameWish || !mayKeepVersion {
            version = configuration.connect.version
            hasConfirmedVersion = false
        }
        if !isSameClient { sessionLost(&actions) }
        if !isSameClient || !isSameServer { sessionChanges() }
    }

    /// Says who acknowledges messages that come from now on.
    public mutating func setAcknowledgements(_ mode: EngineConfiguration.AcknowledgementMode) {
        configuration.acknowledgements = mode
    }

    /// Forgets the session: everything that is in flight, in both directions. Messages that were published end with
    /// ``EngineAction/Failure/dropped``. Between connections only.
    public mutating func forgetSession(_ actions: inout ActionList) {
        guard case .idle = phase else { preconditionFailure("forgot the session during a connection") }
        for id in outgoing.idsInOrder() {
            guard let exchange = outgoing.exchange(of: id), !exchange.kind.isGivenUp else { continue }
            actions.append(.failed(exchange.token, .dropped))
        }
        outgoing = OutgoingExchanges()
        incoming.sessionLost()  // Its serials go on: handles of this session must not mean messages of the next.
        memory = MessageMemory()
        sessionChanges()
    }
}
