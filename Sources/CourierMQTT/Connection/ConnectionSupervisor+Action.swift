import CourierCore

extension ConnectionSupervisor {
    /// An action that the caller must perform. The caller performs the actions in the order of the list.
    enum Action: Equatable, Sendable {
        /// Ask the provider for connect options, and report ``Input/credentialsArrived(_:_:date:)`` or
        /// ``Input/credentialsFailed(_:_:)``.
        case fetchCredentials(AttemptID)
        /// Ask the provider for the credentials of another server, which the broker named in a redirect. Then report
        /// ``Input/credentialsArrived(_:_:date:)`` or ``Input/credentialsFailed(_:_:)``.
        case fetchRedirectCredentials(BrokerEndpoint, AttemptID)
        /// Ignore the provider's response for this attempt.
        case abandonCredentials(AttemptID)
        /// Tell the provider that the broker refused its credentials.
        case clearCredentials

        /// Look up the DNS service records of the host in these options, and report ``Input/endpointsFound(_:_:)``.
        case findEndpoints(ConnectOptions, AttemptID)

        /// Use these options in events and in CONNECT from now on. `nil` means that there are no options.
        case setConnectionInfo(ConnectOptions?)
        /// Open a connection with these options. No other connection is open at this time.
        case open(ConnectOptions, AttemptID)
        /// From now on, try the IP address of the last connection after all other addresses of its host name.
        case avoidAddress
        /// Re-authenticate on the current connection.
        case reauthenticate(ExtendedAuthentication)
        /// Send DISCONNECT if CONNECT was sent, and close the connection. Then report ``Input/closed(_:_:error:)``.
        case closeInOrder
        /// Drop the connection without DISCONNECT. Then report ``Input/closed(_:_:error:)``.
        case abort
        /// Send PINGREQ now. ``ConnectionSupervisor/bytesReceived(now:)`` reports the broker's response.
        case probe

        /// Report an event to the app.
        case emit(ConnectionEvent)
        /// Report the new connection state to the app. The new state differs from the last reported state.
        case stateChanged(ConnectionState)
        /// End all waits for a connection. The waits succeed if the value is `nil`, and otherwise fail with this
        /// failure.
        case releaseWaiters(ConnectionFailure?)
        /// Remove the stored messages, the subscriptions and the messages in flight.
        case clearStoredState
        /// Write to the log.
        case log(LogLevel, String)
    }
}
