import MQTTCodec

/// The table that defines the client's response to the end of an attempt or a connection.
enum LossPolicy {
    /// The client's response to one cause of the end of an attempt or a connection.
    enum Response: Hashable, Sendable, CaseIterable {
        /// The client tries again after the next pause of the schedule.
        case retry
        /// The client tries again at once, instead of after the schedule's first pause. If a pause of the schedule was
        /// already used, the response is the same as `retry`.
        case retryAtOnce
        /// The client tries again at once, with the other MQTT version that the engine has chosen. The engine does not
        /// switch the version twice in a row.
        case switchVersion
        /// The client asks the provider for other credentials. It does this at once after the first refusal since the
        /// last stable connection. After further refusals, or if the options are fixed, the client pauses first.
        case renewCredentials
        /// The client connects once to the server that the broker names. If the broker names no server, the response is
        /// the same as `retry`.
        case followOnce
        /// The client connects from now on to the server that the broker names. If the broker names no server, the
        /// response is the same as `renewCredentials`.
        case followForGood
        /// Another client took over the session. This client does not take the session back at once: it tries again
        /// after the long pause for takeovers.
        case yield
        /// The client stops until the app calls `connect()`, and reports the reason.
        case stop
    }

    /// The part that the failure concerns: the endpoint, or the client.
    enum Subject: Hashable, Sendable {
        /// The failure concerns the endpoint, or the network path to it. The client first tries the remaining
        /// endpoints. If no endpoint remains, the client uses the response of this row.
        case endpoint
        /// The failure concerns the client, its credentials or its session. With another endpoint, the attempt would
        /// fail in the same way.
        case client
    }

    /// One row of the table: causes, and the client's response to them.
    struct Row: Sendable {
        let causes: [LossCause]
        let response: Response
        /// The reason for this response. If the client stops, the app's error contains this text.
        let reason: String
        var subject = Subject.endpoint
        /// True if no attempt can succeed before a person corrects something.
        var isFinal = false
    }

    /// All rows of the table. Each cause is in one row. The last row applies to all causes that no other row contains.
    static let rows: [Row] = [
        Row(
            causes: [
                .refused(.badUserNameOrPassword), .refused(.notAuthorized), .disconnected(.notAuthorized),
            ],
            response: .renewCredentials,
            reason: "The credentials are wrong or expired; the auth provider may return others.", subject: .client),
        Row(
            causes: [.refused(.useAnotherServer), .disconnected(.useAnotherServer)], response: .followOnce,
            reason: "The broker asks clients to use another server for now."),
        Row(
            causes: [.refused(.serverMoved), .disconnected(.serverMoved)], response: .followForGood,
            reason: "The broker has moved. Without a server reference, only the auth provider knows the new address."),
        Row(
            causes: [.disconnected(.sessionTakenOver), .repeatedDrops], response: .yield,
            reason:
                "Another client uses this client id. If both reconnected at once, each would end the other's connections forever.",
            subject: .client),
        Row(
            causes: [.otherVersion], response: .switchVersion,
            reason: "The broker is reachable with an older MQTT version.", subject: .client),
        Row(
            causes: [.refused(.unsupportedProtocolVersion)], response: .stop,
            reason: "No MQTT version is left; allow a version that the broker supports."),
        Row(
            causes: [.refused(.clientIdentifierNotValid)], response: .stop,
            reason: "The broker would refuse this client id again; choose another.", subject: .client),
        Row(
            causes: [.refused(.banned)], response: .stop,
            reason: "Trying again can prolong a ban; ask the broker's administrator.", subject: .client),
        Row(
            causes: [.refused(.badAuthenticationMethod), .disconnected(.badAuthenticationMethod)], response: .stop,
            reason: "The authentication method would be refused again; use a method that the broker supports.",
            subject: .client),
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
            reason: "The broker is reachable, and ended only this connection.", subject: .client),
        Row(
            causes: [.silence], response: .retryAtOnce,
            reason: "The old connection was dead; a new connection can use another network path."),
        Row(
            causes: [
                .refused(.serverUnavailable), .refused(.serverBusy), .refused(.quotaExceeded),
                .refused(.connectionRateExceeded), .disconnected(.serverBusy), .disconnected(.serverShuttingDown),
                .disconnected(.quotaExceeded), .disconnected(.connectionRateExceeded),
                .disconnected(.messageRateTooHigh), .disconnected(.administrativeAction),
            ],
            response: .retry, reason: "The broker may accept later attempts."),
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
            reason: "The broker did not accept a packet; the next connection may not have this problem."),
        Row(
            causes: [.malformedPacket, .protocolViolation, .acknowledgementTimeout], response: .retry,
            reason: "The broker broke a rule of MQTT; a new connection may work."),
        Row(
            causes: [
                .closedByServer, .closedHere, .connectTimeout, .transport(.unreachable), .transport(.broken),
            ],
            response: .retry, reason: "The network or the broker failed, and may recover."),
        Row(
            causes: [.transport(.unknownHost)], response: .retry,
            reason: "The host name does not exist; correct it, or add it to DNS.", isFinal: true),
        Row(
            causes: [.unreadableStore], response: .retry,
            reason: "The message store cannot be read; the disk may recover.", subject: .client),
        Row(
            causes: [.transport(.tls)], response: .retry,
            reason: "The server may be starting, or a captive portal may answer in its place."),
        Row(
            causes: [.transport(.untrustedCertificate)], response: .retry,
            reason: "A person must correct the certificate, the trusted authorities or a clock.", isFinal: true
        ),
        Row(causes: [], response: .retry, reason: "The packet has a reason code that this packet type does not allow."),
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
