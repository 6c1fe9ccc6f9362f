import CourierCore

extension ConnectionSupervisor {
    /// An action that the caller must perform. The caller performs actions in the order in which they are returned.
    enum Action: Equatable, Sendable {
        /// Ask the provider for connect options, and report ``Input/credentialsArrived(_:_:date:)`` or
        /// ``Input/credentialsFailed(_:_:)``.
        case fetchCredentials(AttemptID)
        /// Ask the provider for the credentials of a server that the broker named in a redirect. Report the same inputs
        /// as for `fetchCredentials(_:)`.
        case fetchRedirectCredentials(BrokerEndpoint, AttemptID)
        /// Ignore the provider's response for this attempt.
        case abandonCredentials(AttemptID)
        /// Tell the provider that the broker refused its credentials.
        case clearCredentials

        /// Look up the DNS service records of the host in these options, and report ``Input/endpointsFound(_:_:)``.
        case findEndpoints(ConnectOptions, AttemptID)

        /// From now on, use these options in events and in CONNECT. With `nil`, there are no options.
        case setConnectionInfo(ConnectOptions?)
        /// Open a connection with these options. No other connection is open.
        case open(ConnectOptions, AttemptID)
        /// From now on, try the IP address of the last connection only after the other addresses of its host name.
        case avoidAddress
        /// Re-authenticate on the current connection.
        case reauthenticate(ExtendedAuthentication)
        /// Send DISCONNECT, if CONNECT was sent, and close; ``Input/closed(_:_:)`` follows.
        case closeInOrder
        /// Drop the connection; ``Input/closed(_:_:)`` follows.
        case abort
        /// Send PINGREQ now. ``ConnectionSupervisor/bytesReceived(now:)`` reports the broker's response.
        case probe

        /// Report an event to the app.
        case emit(ConnectionEvent)
        /// Publish the new state. It always differs from the last published state.
        case stateChanged(ConnectionState)
        /// End all waits for a connection: with success if `nil`, otherwise with this failure.
        case releaseWaiters(ConnectionFailure?)
        /// Remove stored messages, subscriptions and messages in flight.
        case clearStoredState
        /// Write to the log.
        case log(LogLevel, String)
    }
}
