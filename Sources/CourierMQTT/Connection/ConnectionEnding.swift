import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// The end of an attempt or a connection: the cause for `LossPolicy`, and the error for the app.
struct ConnectionEnding: Sendable {
    let cause: LossCause
    var error: CourierError
    /// The value of the broker's Server Reference property, which names other servers to use.
    let serverReference: String?
    /// True if the peer closed or broke the byte stream without sending a reason.
    let isByPeer: Bool
    /// True if the attempt used a server that the broker named in a redirect. False if it used the current endpoint.
    var isOfDetour = false

    init(_ cause: LossCause, _ error: CourierError) {
        self.cause = cause
        self.error = error
        serverReference = nil
        isByPeer = false
    }

    /// Makes the ending of an attempt that failed before a connection was opened.
    init(unopened error: CourierError) {
        switch error.code {
        case .storeFailed, .storeFull, .storeDamaged, .storeInUse: self.init(.unreadableStore, error)
        case .secureConnectionFailed: self.init(.transport(.tls), error)
        // Before a connection is opened, `connectionFailed` means that the machine has no free file descriptor or no
        // memory.
        case .connectionFailed: self.init(.transport(.unreachable), error)
        default: self.init(.unusableOptions, error)
        }
    }

    /// Makes an ending from the reasons that the engine and the transport report. `isEstablished` is true for a lost
    /// connection, and false for a failed attempt. `areOptionsFixed` means that the provider has no other credentials.
    /// `wereOptionsRefused` means that the last refusal of credentials was for the same options. `isPlain` means that
    /// the connection used plain TCP to a port that may need TLS. `known` is a more precise error that the caller
    /// knows; `nil` if the caller knows none.
    init(
        _ reason: CloseReason, _ channel: ChannelCloseReason, _ known: CourierError? = nil, endpoint: String,
        isEstablished: Bool, areOptionsFixed: Bool = false, wereOptionsRefused: Bool = false, isPlain: Bool = false
    ) {
        // If the reason is `requested` here, the client itself closed the connection without a call of the app, for
        // example after a failed authentication. Then use the reason of the byte stream.
        let reason = reason == .requested ? .transportClosed : reason
        cause = LossCause(reason, channel)
        isByPeer = reason == .transportClosed && channel.isByPeer
        error =
            known
            ?? CourierError(
                closing: reason, channel, endpoint: endpoint, isEstablished: isEstablished,
                areOptionsFixed: areOptionsFixed, wereOptionsRefused: wereOptionsRefused, isPlain: isPlain)
            ?? CourierError(.connectionLost, "The connection to \(endpoint) has ended.")
        switch reason {
        case .refused(let connAck): serverReference = connAck.properties.serverReference
        case .disconnectedByServer(let disconnect): serverReference = disconnect.properties.serverReference
        default: serverReference = nil
        }
    }

    /// The row of `LossPolicy` that defines the client's response to the cause. If a redirect named the failed server,
    /// the row never stops the client, because the broker may name another server next time.
    var row: LossPolicy.Row {
        let row = LossPolicy.row(for: cause)
        guard isOfDetour, row.subject == .endpoint, row.response == .stop else { return row }
        return LossPolicy.Row(causes: row.causes, response: .retry, reason: row.reason)
    }
}

extension ConnectionEnding {
    /// Returns the error for the app. The error's message is followed by `sentence`, which says what the client does
    /// next.
    func failure(followedBy sentence: String) -> ConnectionFailure {
        .error(
            CourierError(
                error.code, "\(error.message.asSentence) \(sentence)", reasonCode: error.reasonCode, cause: error.cause)
        )
    }
}

extension ChannelCloseReason {
    /// True if the peer ended the connection, as far as the client can know.
    fileprivate var isByPeer: Bool {
        switch self {
        case .closedByPeer: true
        case .closedByOwner: false
        case .failed(let error): [.reset, .brokenPipe, .truncated, .webSocketClosed].contains(error.code)
        }
    }
}

extension LossCause {
    fileprivate init(_ reason: CloseReason, _ channel: ChannelCloseReason) {
        switch reason {
        case .refused(let connAck): self = .refused(connAck.reasonCode)
        case .disconnectedByServer(let disconnect): self = .disconnected(disconnect.reasonCode)
        case .versionNotSupported: self = .otherVersion
        case .malformedConnect: self = .unusableOptions
        case .connectTimeout: self = .connectTimeout
        case .malformedPacket(let error):
            if case .connAckOfOlderVersion(let code) = error.violation,
                let refusal = PacketReasonCode(returnCode: code)
            {
                self = .refused(refusal)
            } else {
                self = .malformedPacket
            }
        case .protocolError: self = .protocolViolation
        case .pingTimeout: self = .silence
        case .acknowledgementTimeout: self = .acknowledgementTimeout
        case .requested, .transportClosed:
            switch channel {
            case .closedByPeer: self = .closedByServer
            case .closedByOwner: self = .closedHere
            // The WebSocket server refused the provider's credentials. Respond as if the broker had refused them in
            // CONNACK.
            case .failed(let error) where error.code == .webSocketUnauthorized: self = .refused(.notAuthorized)
            case .failed(let error): self = .transport(TransportProblem(error.code))
            }
        }
    }
}
