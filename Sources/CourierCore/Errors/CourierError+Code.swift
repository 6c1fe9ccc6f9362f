extension CourierError {
    /// The kind of a ``CourierError``.
    ///
    /// A later version may add kinds, so a `switch` over a code needs a `default`. The number of a code shows its
    /// group:
    /// - below 200: mistakes in the call
    /// - 200 to 299: refusals or mistakes of the peer
    /// - 300 to 399: failures of the connection to the peer
    /// - 400 to 499: failures of the message store
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: Int {
            case invalidTopicName = 100
            case invalidTopicFilter = 101
            case invalidTopicTemplate = 102
            case invalidTopicArgument = 103
            case missingTopicArgument = 104
            case unresolvedPlaceholder = 105
            case invalidConfiguration = 110
            case invalidMessage = 111
            case encodingFailed = 120
            case decodingFailed = 121
            case queueFull = 130
            case messageExpired = 131
            case messageReplaced = 132
            case noReader = 133
            case messageWithdrawn = 134
            case sessionMissing = 140
            case clientDestroyed = 141

            case malformedPacket = 200
            case protocolViolation = 201
            case connectionRefused = 210
            case notAuthorized = 211
            case sessionTakenOver = 212
            case disconnectedByServer = 213
            case publishRefused = 220
            case subscriptionRefused = 221

            case connectionFailed = 300
            case connectionLost = 301
            case timedOut = 302
            case secureConnectionFailed = 303
            case authenticationFailed = 310

            case storeFailed = 400
            case storeFull = 401
            case storeDamaged = 402
            case storeInUse = 403
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The number of this code, which is also its `NSError` code. It never changes between versions.
        public var number: Int { kind.rawValue }

        /// The code's Swift name, such as `invalidTopicName`.
        public var description: String { "\(kind)" }

        // MARK: Errors of calls and messages

        /// A topic name breaks a rule of MQTT: it is empty, too long, or holds a wildcard or U+0000.
        public static let invalidTopicName = Code(.invalidTopicName)
        /// A topic filter breaks a rule of MQTT: it is empty or too long, or holds U+0000, a misplaced wildcard or an
        /// incomplete `$share/group/`.
        public static let invalidTopicFilter = Code(.invalidTopicFilter)
        /// The text of a ``Topic`` template contains a mistake.
        public static let invalidTopicTemplate = Code(.invalidTopicTemplate)
        /// A value for a template's parameter is not allowed in a topic level, or the template has no such parameter.
        public static let invalidTopicArgument = Code(.invalidTopicArgument)
        /// A template is used as a topic name, but one of its parameters has no value.
        public static let missingTopicArgument = Code(.missingTopicArgument)
        /// A topic contains `%u` or `%c`, and the client does not know its user name or client id yet.
        public static let unresolvedPlaceholder = Code(.unresolvedPlaceholder)
        /// An option is out of range or contradicts another option. The code also means that a call needs a feature of
        /// MQTT 5, and the broker supports only an older version.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// A message cannot be sent, because its payload or a property is too long or not allowed. The code also means
        /// that a received request has no response topic.
        public static let invalidMessage = Code(.invalidMessage)
        /// No adapter could turn the value into bytes.
        public static let encodingFailed = Code(.encodingFailed)
        /// No adapter could turn the bytes into the type that the reader asked for.
        public static let decodingFailed = Code(.decodingFailed)
        /// A limit of the client is reached. A queue refused or dropped a message, or there are too many filters,
        /// requests or waiting calls.
        public static let queueFull = Code(.queueFull)
        /// A message expired before it could be sent.
        public static let messageExpired = Code(.messageExpired)
        /// A newer latest-only message to the same topic replaced a waiting message.
        public static let messageReplaced = Code(.messageReplaced)
        /// The app took a message back before it was sent, by ``EnqueuedMessage/withdraw()``.
        public static let messageWithdrawn = Code(.messageWithdrawn)
        /// A received message of QoS 1 or 2 has no reader, and the client or the message store could not keep it.
        public static let noReader = Code(.noReader)
        /// There is no session, because `connect()` was not called, or `destroy()` was called after it. Two other calls
        /// also fail with this code: a call that needs a connection, after `disconnect()`, and a call that ends the
        /// connection, if there is no connection.
        ///
        /// A publish after `disconnect()` does not fail, because the message waits for the next connection.
        public static let sessionMissing = Code(.sessionMissing)
        /// The client was destroyed or released while the call waited.
        public static let clientDestroyed = Code(.clientDestroyed)

        // MARK: Errors of the peer

        /// The peer sent bytes that are not a valid MQTT packet.
        public static let malformedPacket = Code(.malformedPacket)
        /// The peer sent a well-formed packet that the protocol does not allow at this point.
        public static let protocolViolation = Code(.protocolViolation)
        /// The broker refused the connection request.
        public static let connectionRefused = Code(.connectionRefused)
        /// The broker does not accept the credentials, or they do not permit this action.
        public static let notAuthorized = Code(.notAuthorized)
        /// Another connection with the same client id took over the session. A broker cannot report this reason with
        /// MQTT 3.1.1. So the client counts connections in a row that the broker drops soon after CONNACK. After
        /// several such connections, the client assumes that the session was taken over. A timeout, a failed attempt at
        /// the last endpoint, a missing network or a longer connection resets the count.
        public static let sessionTakenOver = Code(.sessionTakenOver)
        /// The broker ended the connection and sent a reason.
        public static let disconnectedByServer = Code(.disconnectedByServer)
        /// The broker refused a message.
        public static let publishRefused = Code(.publishRefused)
        /// The broker refused a subscription or an unsubscription, or the filter was too long to be sent. The code also
        /// means that the app unsubscribed from a filter before the broker confirmed its subscription.
        public static let subscriptionRefused = Code(.subscriptionRefused)

        // MARK: Errors of the connection

        /// The connection to the broker was not established. For example, the name was not found, there was no route,
        /// or the peer refused the connection.
        public static let connectionFailed = Code(.connectionFailed)
        /// An established connection ended, and the broker sent no reason.
        public static let connectionLost = Code(.connectionLost)
        /// A time limit was exceeded. The error's message names the limit.
        public static let timedOut = Code(.timedOut)
        /// The TLS handshake failed, for example because of the certificate, the host name or the protocol version.
        public static let secureConnectionFailed = Code(.secureConnectionFailed)
        /// The connection service provider returned no options, or no response to an authentication challenge of the
        /// broker.
        public static let authenticationFailed = Code(.authenticationFailed)

        // MARK: Errors of the message store

        /// The store could not read or write. Messages that the store accepted earlier remain stored.
        public static let storeFailed = Code(.storeFailed)
        /// The store reached its limit, or the disk is full. The message was not accepted.
        public static let storeFull = Code(.storeFull)
        /// The file of the message store is damaged, or it is not a message store.
        public static let storeDamaged = Code(.storeDamaged)
        /// Another client or process has the store open.
        public static let storeInUse = Code(.storeInUse)
    }
}
