import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

extension ConnectionSupervisor {
    /// Inputs: what happened.
    enum Input: Sendable {
        /// The app called `connect()`.
        case connectRequested(source: String)
        /// The app called `disconnect()`.
        case disconnectRequested
        /// The app called `destroy()`.
        case destroyRequested

        /// The provider gave options. `date` is the wall clock's now, against which an expiry is measured.
        case credentialsArrived(AttemptID, ConnectGrant, date: Date)
        /// The provider gave none.
        case credentialsFailed(AttemptID, any Error)

        /// The result of looking up service records.
        case endpointsFound(AttemptID, EndpointSearch)

        /// The options of ``Action/open(_:_:)`` cannot be used, and nothing was opened.
        case openFailed(AttemptID, CourierError)
        /// CONNECT was written.
        case connectSent
        /// The server accepted the connection, which speaks this version.
        case accepted(ConnAck, ProtocolVersion)
        /// The connection that ``Action/open(_:_:)`` asked for has ended, or did not come about; `error` says why,
        /// where neither the engine nor the byte channel knows.
        case closed(CloseReason, ChannelCloseReason, error: CourierError? = nil)

        /// The network monitor says so; the same word twice is harmless.
        case networkChanged(NetworkStatus)
        /// The app's lifecycle says so; the same word twice is harmless.
        case phaseChanged(AppPhase)
        /// There is now, or no longer, a topic to subscribe to.
        case topicsChanged(areWanted: Bool)
        /// The machine slept, and the other end of the connection may be gone.
        case resumedFromSuspend

        /// ``ConnectionSupervisor/deadline`` has passed; too early, or without need, is harmless.
        case timerFired
    }
}
