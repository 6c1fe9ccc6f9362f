import CourierCore

extension ConnectionSupervisor {
    /// What to do, in this order.
    enum Action: Equatable, Sendable {
        /// Ask the provider; answer with ``Input/credentialsArrived(_:_:date:)`` or ``Input/credentialsFailed(_:_:)``.
        case fetchCredentials(AttemptID)
        /// Ask the provider for the credentials of a server that the broker has referred to; answer in the same way.
        case fetchRedirectCredentials(BrokerEndpoint, AttemptID)
        /// The answer is not wanted any more.
        case abandonCredentials(AttemptID)
        /// Tell the provider that the broker refused what it gave.
        case clearCredentials

        /// Look up the service records of these options' host; answer with ``Input/endpointsFound(_:_:)``.
        case findEndpoints(ConnectOptions, AttemptID)

        /// Events and CONNECT carry these options from now on.
        case setConnectionInfo(ConnectOptions?)
        /// Open a connection with these options; there is no other one.
        case open(ConnectOptions, AttemptID)
        /// The address that the last connection led to is to be tried behind the others of its name.
        case avoidAddress
        /// Authenticate anew on the connection that there is.
        case reauthenticate(ExtendedAuthentication)
        /// Send DISCONNECT, if CONNECT was sent, and close; ``Input/closed(_:_:)`` follows.
        case closeInOrder
        /// Drop the connection; ``Input/closed(_:_:)`` follows.
        case abort
        /// Send PINGREQ now; what comes back counts by ``ConnectionSupervisor/bytesReceived(now:)``.
        case probe

        /// Tell the app's handlers.
        case emit(ConnectionEvent)
        /// The state for the publisher; never the same twice in a row.
        case stateChanged(ConnectionState)
        /// End everybody's wait for a connection: it is there (`nil`), or will not be, and why.
        case releaseWaiters(ConnectionFailure?)
        /// Remove stored messages, subscriptions and what is in flight.
        case clearStoredState
        /// Write to the log.
        case log(LogLevel, String)
    }
}
