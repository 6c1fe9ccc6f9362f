extension TransportError {
    /// The kind of a ``TransportError``.
    ///
    /// A later version may add kinds, so a `switch` over the code needs a `default`. The hundreds of the number give
    /// the group: 100 for a wrong configuration, 200 for a connection that could not be opened, 300 for a TLS failure,
    /// 400 for a lost connection.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: Int {
            case invalidConfiguration = 100
            case badCertificateFile = 101
            case badPrivateKeyFile = 102
            case wrongPassPhrase = 103
            case keyMismatch = 104

            case nameResolutionFailed = 200
            case connectionRefused = 201
            case connectTimedOut = 202
            case unreachable = 203
            case permissionDenied = 204
            case tooManyDescriptors = 205
            case addressInUse = 206
            case socketNotFound = 207
            case invalidDescriptor = 208
            case proxyFailed = 209
            case proxyRefused = 210
            case proxyAuthenticationFailed = 211
            case hostNotFound = 212
            case webSocketRefused = 220
            case webSocketRedirected = 221
            case webSocketUnauthorized = 222
            case webSocketHandshakeFailed = 223
            case webSocketSubprotocolRefused = 224

            case tlsHandshakeFailed = 300
            case tlsUnknownAuthority = 301
            case tlsHostNameMismatch = 302
            case tlsCertificateExpired = 303
            case tlsCertificateNotYetValid = 304
            case tlsCertificateRejected = 305
            case tlsPinMismatch = 306
            case tlsProtocolVersion = 307
            case tlsClientCertificateRequired = 308
            case tlsClientCertificateRejected = 309
            case tlsNoCommonProtocol = 310
            case tlsNotSpoken = 311
            case tlsAlert = 312

            case reset = 400
            case timedOut = 401
            case closedDuringHandshake = 402
            case brokenPipe = 403
            case remainderTooLong = 404
            case loopShutDown = 405
            case truncated = 406
            case answersUnread = 407
            case webSocketViolation = 410
            case webSocketClosed = 411
            case systemFailure = 499
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The number of this code; it never changes between versions.
        public var number: Int { kind.rawValue }

        /// True if TLS itself failed. False if another part failed, such as the stream below TLS.
        package var isOfTLS: Bool { (300..<400).contains(number) }

        /// The code's Swift name, such as `connectionRefused`.
        public var description: String { "\(kind)" }

        // MARK: The configuration is wrong

        /// An option is out of range or contradicts another option.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// Certificates in a file or in memory cannot be read, or the input contains no certificate.
        public static let badCertificateFile = Code(.badCertificateFile)
        /// A private key in a file or in memory cannot be read, or the input contains no private key.
        public static let badPrivateKeyFile = Code(.badPrivateKeyFile)
        /// The private key is encrypted and the pass phrase is missing or wrong.
        public static let wrongPassPhrase = Code(.wrongPassPhrase)
        /// The private key does not belong to the certificate.
        public static let keyMismatch = Code(.keyMismatch)

        // MARK: The connection could not be opened

        /// The host name does not exist in DNS, or it has no address.
        public static let hostNotFound = Code(.hostNotFound)
        /// The lookup of the host name failed for another reason, for example because no DNS server answered.
        public static let nameResolutionFailed = Code(.nameResolutionFailed)
        /// The machine is reachable, but no process listens on the port or Unix socket of the endpoint.
        public static let connectionRefused = Code(.connectionRefused)
        /// The connection, including its TLS and WebSocket handshakes, was not open at the connect deadline.
        public static let connectTimedOut = Code(.connectTimedOut)
        /// The operating system has no route to the host or its network.
        public static let unreachable = Code(.unreachable)
        /// The operating system does not permit this connection or this address.
        public static let permissionDenied = Code(.permissionDenied)
        /// The process or the machine has reached its limit of open descriptors.
        public static let tooManyDescriptors = Code(.tooManyDescriptors)
        /// Another process already listens on the listener's address.
        public static let addressInUse = Code(.addressInUse)
        /// No Unix socket exists at the path of the endpoint. For a listener: the folder of the path does not exist.
        public static let socketNotFound = Code(.socketNotFound)
        /// A descriptor of the app is not open, or the system cannot wait for its events, as for a regular file.
        public static let invalidDescriptor = Code(.invalidDescriptor)
        /// The proxy sent a response that is not valid in its protocol, or closed the connection without a response.
        public static let proxyFailed = Code(.proxyFailed)
        /// The proxy refused to connect to the target. The message contains the reason if the proxy sent one.
        public static let proxyRefused = Code(.proxyRefused)
        /// The proxy requires a user name and a password, or rejected the configured user name or password.
        public static let proxyAuthenticationFailed = Code(.proxyAuthenticationFailed)
        /// The server answered the WebSocket request with an HTTP status other than 101. The message contains the
        /// status.
        public static let webSocketRefused = Code(.webSocketRefused)
        /// The server answered the WebSocket request with a redirect. Redirects are not followed; the message contains
        /// the target.
        public static let webSocketRedirected = Code(.webSocketRedirected)
        /// The server answered the WebSocket request with 401 or 403: credentials are missing or not accepted.
        public static let webSocketUnauthorized = Code(.webSocketUnauthorized)
        /// The peer violated the WebSocket opening handshake, closed the connection during it, or does not support
        /// WebSocket.
        public static let webSocketHandshakeFailed = Code(.webSocketHandshakeFailed)
        /// The server did not select the WebSocket subprotocol that was requested.
        public static let webSocketSubprotocolRefused = Code(.webSocketSubprotocolRefused)

        // MARK: TLS failed

        /// The TLS handshake failed for a reason that has no code of its own. The message contains OpenSSL's text.
        public static let tlsHandshakeFailed = Code(.tlsHandshakeFailed)
        /// The peer's certificate is not signed by a trusted authority.
        public static let tlsUnknownAuthority = Code(.tlsUnknownAuthority)
        /// The peer's certificate was issued for another host name or address.
        public static let tlsHostNameMismatch = Code(.tlsHostNameMismatch)
        /// A certificate in the peer's chain has expired.
        public static let tlsCertificateExpired = Code(.tlsCertificateExpired)
        /// A certificate in the peer's chain is not valid yet. The cause is often a wrong local clock.
        public static let tlsCertificateNotYetValid = Code(.tlsCertificateNotYetValid)
        /// The peer's certificate fails verification for another reason, such as a weak key or a wrong purpose.
        public static let tlsCertificateRejected = Code(.tlsCertificateRejected)
        /// No certificate in the peer's chain has a pinned public key.
        public static let tlsPinMismatch = Code(.tlsPinMismatch)
        /// The two sides have no version of TLS in common.
        public static let tlsProtocolVersion = Code(.tlsProtocolVersion)
        /// The peer requires a client certificate, and none was sent.
        public static let tlsClientCertificateRequired = Code(.tlsClientCertificateRequired)
        /// The peer rejected our client certificate.
        public static let tlsClientCertificateRejected = Code(.tlsClientCertificateRejected)
        /// The two sides have no application protocol (ALPN) in common.
        public static let tlsNoCommonProtocol = Code(.tlsNoCommonProtocol)
        /// The peer's response is not TLS. The cause is often a port that expects connections without TLS.
        public static let tlsNotSpoken = Code(.tlsNotSpoken)
        /// An established TLS connection ended, because the peer sent an alert or violated the TLS protocol.
        public static let tlsAlert = Code(.tlsAlert)

        // MARK: The connection was lost

        /// The peer, or a device on the network path, reset the connection.
        public static let reset = Code(.reset)
        /// The operating system closed the connection, because the peer did not respond any more.
        public static let timedOut = Code(.timedOut)
        /// The peer closed or reset the connection in the middle of the TLS handshake.
        public static let closedDuringHandshake = Code(.closedDuringHandshake)
        /// The peer no longer reads the bytes that are sent to it.
        public static let brokenPipe = Code(.brokenPipe)
        /// The channel's handler left more bytes unconsumed than ``ChannelOptions/remainderLimit``.
        public static let remainderTooLong = Code(.remainderTooLong)
        /// More TLS responses wait for the peer than ``ChannelOptions/answerLimit`` allows, because the peer requests
        /// responses and does not read them.
        public static let answersUnread = Code(.answersUnread)
        /// The event loop was shut down while the connection was open.
        public static let loopShutDown = Code(.loopShutDown)
        /// The connection ended without a TLS close alert or in the middle of a WebSocket message. Bytes may be
        /// missing.
        public static let truncated = Code(.truncated)
        /// The peer violated the WebSocket protocol or exceeded a limit. The message names the violation.
        public static let webSocketViolation = Code(.webSocketViolation)
        /// The peer closed the WebSocket with a status that reports an error.
        public static let webSocketClosed = Code(.webSocketClosed)
        /// The operating system reported an error that has no code of its own; see ``TransportError/errno``.
        public static let systemFailure = Code(.systemFailure)
    }
}
