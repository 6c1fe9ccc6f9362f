import CourierCore

extension ConnectionSupervisor {
    /// Actions for the caller, to be performed in this order.
    enum Action: Equatable, Sendable {
        /// Ask the provider; answer with ``Input/credentialsArrived(_:_:date:)`` or ``Input/credentialsFailed(_:_:)``.
        case fetchCredentials(AttemptID)
        /// Ask the provider for the credentials of a server that the broker has referred to; answer in the same way.
        case fetchRedirectCredentials(BrokerEndpoint, AttemptID)
        /// The answer is not wanted any more.
        case abandonCredentials(AttemptID)
        /// Tell the provider that the broker refused its credentials.
        case clearCredentials

        /// Look up the service records of these options' host; answer with ``Input/endpointsFound(_:_:)``.
        case findEndpoints(ConnectOptions, AttemptID)

        /// Events and CONNECT carry these options from now on.
        case setConnectionInfo(ConnectOptions?)
        /// Open a connection with these options; there is no other one.
        case open(ConnectOptions, AttemptID)
        /// Try the address of the last connection after the other addresses of its name.
        case avoidAddress
        /// Authenticate anew on the connection that there is.
        case reauthenticate(ExtendedAuthentication)
        /// Send DISCONNECT, if CONNECT was sent, and close; ``Input/closed(_:_:)`` follows.
        case closeInOrder
        /// Drop the connection; ``Input/closed(_:_:)`` follows.
        case abort
        /// Send PINGREQ now. ``ConnectionSupervisor/bytesReceived(now:)`` reports the answer.
        case probe

        /// Report an event to the app.
        case emit(ConnectionEvent)
        /// The state for the publisher; never the same twice in a row.
        case stateChanged(ConnectionState)
        /// End everybody's wait for a connection: it is there (`nil`), or will not be, and why.
        case releaseWaiters(ConnectionFailure?)
        /// Remove stored messages, subscriptions and messages in flight.
        case clearStoredState
        /// Write to the log.
        case log(LogLevel, String)
    }
}
