extension TransportError {
    /// The kind of a ``TransportError``.
    ///
    /// A later version may add kinds, so a `switch` over it needs a `default`. Numbers from 100 say that the
    /// configuration is wrong, from 200 that no connection came about, from 300 that TLS failed, from 400 that an
    /// open connection was lost.
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

        /// Whether it was TLS that failed, and not the way below it.
        var isOfTLS: Bool { (300..<400).contains(number) }

        /// The code's Swift name, such as `connectionRefused`.
        public var description: String { "\(kind)" }

        // MARK: The configuration is wrong

        /// An option is out of range or contradicts another.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// Certificates, in a file or in memory, cannot be read, or there are none.
        public static let badCertificateFile = Code(.badCertificateFile)
        /// A private key, in a file or in memory, cannot be read, or there is none.
        public static let badPrivateKeyFile = Code(.badPrivateKeyFile)
        /// The private key is encrypted and the pass phrase is missing or wrong.
        public static let wrongPassPhrase = Code(.wrongPassPhrase)
        /// The private key does not belong to the certificate.
        public static let keyMismatch = Code(.keyMismatch)

        // MARK: No connection came about

        /// DNS says that the host name does not exist, or that it has no address.
        public static let hostNotFound = Code(.hostNotFound)
        /// The lookup of the host name failed for another reason, for example because no DNS server answered.
        public static let nameResolutionFailed = Code(.nameResolutionFailed)
        /// The machine is there and nothing listens on that port or socket.
        public static let connectionRefused = Code(.connectionRefused)
        /// No connection, or no finished TLS handshake, before the connect deadline.
        public static let connectTimedOut = Code(.connectTimedOut)
        /// No route leads to the host or its network.
        public static let unreachable = Code(.unreachable)
        /// The operating system forbids this connection or this address.
        public static let permissionDenied = Code(.permissionDenied)
        /// The process or the machine has no descriptor left.
        public static let tooManyDescriptors = Code(.tooManyDescriptors)
        /// A listener's address is taken.
        public static let addressInUse = Code(.addressInUse)
        /// There is no socket at that path, or no folder in which to listen at one.
        public static let socketNotFound = Code(.socketNotFound)
        /// A descriptor given by the app is not open, or is of a kind that cannot be waited for.
        public static let invalidDescriptor = Code(.invalidDescriptor)
        /// The proxy did not answer in its protocol, or closed the connection instead of answering.
        public static let proxyFailed = Code(.proxyFailed)
        /// The proxy did not make the connection that it was asked for; the message says why, as far as it told.
        public static let proxyRefused = Code(.proxyRefused)
        /// The proxy wants a user name and a password, or others than it was given.
        public static let proxyAuthenticationFailed = Code(.proxyAuthenticationFailed)
        /// The server did not answer the request for a WebSocket with 101, but with the status in the message.
        public static let webSocketRefused = Code(.webSocketRefused)
        /// The server answered the request for a WebSocket with a redirect, which is not followed; the message says to where.
        public static let webSocketRedirected = Code(.webSocketRedirected)
        /// The server answered the request for a WebSocket with 401 or 403: it wants credentials, or others.
        public static let webSocketUnauthorized = Code(.webSocketUnauthorized)
        /// The peer did not keep to the opening handshake of WebSocket, broke it off, or does not speak it.
        public static let webSocketHandshakeFailed = Code(.webSocketHandshakeFailed)
        /// The server did not choose the subprotocol that the WebSocket was asked for with.
        public static let webSocketSubprotocolRefused = Code(.webSocketSubprotocolRefused)

        // MARK: TLS failed

        /// The handshake failed for a reason without a code of its own; the message has OpenSSL's words.
        public static let tlsHandshakeFailed = Code(.tlsHandshakeFailed)
        /// The peer's certificate is not signed by an authority that is trusted here.
        public static let tlsUnknownAuthority = Code(.tlsUnknownAuthority)
        /// The peer's certificate is for another host name or address.
        public static let tlsHostNameMismatch = Code(.tlsHostNameMismatch)
        /// A certificate of the peer's chain has expired.
        public static let tlsCertificateExpired = Code(.tlsCertificateExpired)
        /// A certificate of the peer's chain is not valid yet; often a wrong clock.
        public static let tlsCertificateNotYetValid = Code(.tlsCertificateNotYetValid)
        /// The peer's certificate fails verification for another reason, such as a weak key or a wrong purpose.
        public static let tlsCertificateRejected = Code(.tlsCertificateRejected)
        /// No certificate of the peer's chain has a pinned public key.
        public static let tlsPinMismatch = Code(.tlsPinMismatch)
        /// The two sides have no version of TLS in common.
        public static let tlsProtocolVersion = Code(.tlsProtocolVersion)
        /// The peer demands a certificate of ours and got none.
        public static let tlsClientCertificateRequired = Code(.tlsClientCertificateRequired)
        /// The peer did not accept our certificate.
        public static let tlsClientCertificateRejected = Code(.tlsClientCertificateRejected)
        /// The two sides have no application protocol (ALPN) in common.
        public static let tlsNoCommonProtocol = Code(.tlsNoCommonProtocol)
        /// The peer answered with something that is not TLS.
        public static let tlsNotSpoken = Code(.tlsNotSpoken)
        /// An established TLS connection ended by an alert of the peer's, or by what broke the rules of TLS.
        public static let tlsAlert = Code(.tlsAlert)

        // MARK: The connection was lost

        /// The peer, or something on the way to it, reset the connection.
        public static let reset = Code(.reset)
        /// The operating system gave up on a peer that did not answer any more.
        public static let timedOut = Code(.timedOut)
        /// The peer closed or reset the connection in the middle of the TLS handshake.
        public static let closedDuringHandshake = Code(.closedDuringHandshake)
        /// The peer no longer reads what is written to it.
        public static let brokenPipe = Code(.brokenPipe)
        /// The reader left more bytes unread than ``ChannelOptions/remainderLimit``.
        public static let remainderTooLong = Code(.remainderTooLong)
        /// The peer made TLS answer again and again and did not read, beyond ``ChannelOptions/answerLimit``.
        public static let answersUnread = Code(.answersUnread)
        /// The event loop was shut down while the connection was open.
        public static let loopShutDown = Code(.loopShutDown)
        /// The connection ended without TLS's own farewell or in the middle of a WebSocket message, so bytes may have been
        /// cut off.
        public static let truncated = Code(.truncated)
        /// The peer broke a rule of WebSocket, or a limit; the message says which.
        public static let webSocketViolation = Code(.webSocketViolation)
        /// The peer closed the WebSocket with a status that says that something was wrong.
        public static let webSocketClosed = Code(.webSocketClosed)
        /// The operating system failed in a way without a code of its own; see ``TransportError/errno``.
        public static let systemFailure = Code(.systemFailure)
    }
}
