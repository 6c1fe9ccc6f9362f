import MQTTCodec

/// The table that defines the client's response to the end of an attempt or a connection.
enum LossPolicy {
    /// The client's response.
    enum Response: Hashable, Sendable, CaseIterable {
        /// Tries again after the pause of the schedule.
        case retry
        /// Tries again at once, instead of after the schedule's first pause. Same as `retry` if the schedule has
        /// already begun.
        case retryAtOnce
        /// Tries the MQTT version that the engine has chosen, at once. The engine does not switch twice in a row.
        case switchVersion
        /// Asks the provider for other credentials. The first time, the provider is asked at once, and later after a
        /// pause. If the options never change, the client always pauses first.
        case renewCredentials
        /// Connects once to the server that the broker names; `retry` if it names none.
        case followOnce
        /// Connects from now on to the server that the broker names; `renewCredentials` if it names none.
        case followForGood
        /// Leaves the session to the client that took it, and tries again after the pause for takeovers, which is long.
        case yield
        /// Stops until `connect()`, and reports the reason.
        case stop
    }

    /// The part that a cause concerns.
    enum Subject: Hashable, Sendable {
        /// The endpoint, or the network path to it. If another endpoint remains to be tried, it is tried before the
        /// response is performed.
        case endpoint
        /// The client, its credentials or its session. Another endpoint would react in the same way.
        case client
    }

    struct Row: Sendable {
        let causes: [LossCause]
        let response: Response
        /// The reason for this response. If the client stops, the app's error contains it.
        let reason: String
        var subject = Subject.endpoint
        /// Whether every attempt fails until a person corrects something.
        var isFinal = false
    }

    /// The whole table. Each cause is in one row. The last row is for all causes that no other row lists.
    static let rows: [Row] = [
        Row(
            causes: [
                .refused(.badUserNameOrPassword), .refused(.notAuthorized), .disconnected(.notAuthorized),
            ],
            response: .renewCredentials,
            reason: "The credentials are wrong or have ended; the provider may have better ones.", subject: .client),
        Row(
            causes: [.refused(.useAnotherServer), .disconnected(.useAnotherServer)], response: .followOnce,
            reason: "The broker is leaving its load to another one for now."),
        Row(
            causes: [.refused(.serverMoved), .disconnected(.serverMoved)], response: .followForGood,
            reason: "The broker has moved; without a reference only the provider can know where to."),
        Row(
            causes: [.disconnected(.sessionTakenOver), .repeatedDrops], response: .yield,
            reason: "Another client uses the same id; two that both come back at once would fight for ever.",
            subject: .client),
        Row(
            causes: [.otherVersion], response: .switchVersion,
            reason: "The broker is there and speaks an older version.", subject: .client),
        Row(
            causes: [.refused(.unsupportedProtocolVersion)], response: .stop,
            reason: "No version is left to try; allow the one that the broker speaks."),
        Row(
            causes: [.refused(.clientIdentifierNotValid)], response: .stop,
            reason: "The id would be refused again; choose another client id.", subject: .client),
        Row(
            causes: [.refused(.banned)], response: .stop,
            reason: "Trying again can prolong a ban; ask the broker's administrator.", subject: .client),
        Row(
            causes: [.refused(.badAuthenticationMethod), .disconnected(.badAuthenticationMethod)], response: .stop,
            reason: "The method would be refused again; use one that the broker supports.", subject: .client),
        Row(
            causes: [
                .refused(.topicNameInvalid), .refused(.payloadFormatInvalid), .refused(.retainNotSupported),
                .refused(.qosNotSupported), .refused(.packetTooLarge),
            ],
            response: .stop, reason: "The will message or another part of CONNECT is not accepted; change it.",
            subject: .client),
        Row(
            causes: [.unusableOptions, .transport(.configuration), .transport(.clientCertificateMissing)],
            response: .stop, reason: "The configuration would fail in the same way again; correct it."),
        Row(
            causes: [.transport(.loopEnded)], response: .stop,
            reason: "Nothing can run on an event loop that has ended; make a new client.", subject: .client),
        Row(
            causes: [.disconnected(.keepAliveTimeout), .disconnected(.maximumConnectTime)], response: .retryAtOnce,
            reason: "The broker is there, and ended this one connection only.", subject: .client),
        Row(
            causes: [.silence], response: .retryAtOnce,
            reason: "The old connection was dead; a new one finds another way if there is one."),
        Row(
            causes: [
                .refused(.serverUnavailable), .refused(.serverBusy), .refused(.quotaExceeded),
                .refused(.connectionRateExceeded), .disconnected(.serverBusy), .disconnected(.serverShuttingDown),
                .disconnected(.quotaExceeded), .disconnected(.connectionRateExceeded),
                .disconnected(.messageRateTooHigh), .disconnected(.administrativeAction),
            ],
            response: .retry, reason: "The broker needs time."),
        Row(
            causes: [
                .refused(.unspecifiedError), .refused(.malformedPacket), .refused(.protocolError),
                .refused(.implementationSpecificError), .disconnected(.success), .disconnected(.unspecifiedError),
                .disconnected(.malformedPacket), .disconnected(.protocolError),
                .disconnected(.implementationSpecificError), .disconnected(.receiveMaximumExceeded),
                .disconnected(.topicAliasInvalid), .disconnected(.packetTooLarge),
                .disconnected(.topicNameInvalid), .disconnected(.topicFilterInvalid),
                .disconnected(.payloadFormatInvalid), .disconnected(.retainNotSupported),
                .disconnected(.qosNotSupported), .disconnected(.sharedSubscriptionsNotSupported),
                .disconnected(.subscriptionIdentifiersNotSupported),
                .disconnected(.wildcardSubscriptionsNotSupported),
            ],
            response: .retry,
            reason: "Something on the connection was not accepted; it need not happen again."),
        Row(
            causes: [.malformedPacket, .protocolViolation, .acknowledgementTimeout], response: .retry,
            reason: "The broker misbehaved; a fresh connection starts clean."),
        Row(
            causes: [
                .closedByServer, .closedHere, .connectTimeout, .transport(.unreachable), .transport(.broken),
            ],
            response: .retry, reason: "The network or the broker failed, and may recover."),
        Row(
            causes: [.transport(.unknownHost)], response: .retry,
            reason: "The name does not exist; correct its spelling, or add it to DNS.", isFinal: true),
        Row(
            causes: [.unreadableStore], response: .retry,
            reason: "What the store has is not left behind; its disk may recover.", subject: .client),
        Row(
            causes: [.transport(.tls)], response: .retry,
            reason: "The server may be starting, or a captive portal may answer in its place."),
        Row(
            causes: [.transport(.untrustedCertificate)], response: .retry,
            reason: "A person must correct the certificate, the trusted authorities or a clock.", isFinal: true
        ),
        Row(causes: [], response: .retry, reason: "A code that does not belong into the packet that carried it."),
    ]

    /// Returns the row for a cause.
    static func row(for cause: LossCause) -> Row { byCause[cause] ?? rows[rows.count - 1] }

    private static let byCause: [LossCause: Row] = {
        var table: [LossCause: Row] = [:]
        for row in rows {
            for cause in row.causes { table[cause] = row }
        }
        return table
    }()
}
