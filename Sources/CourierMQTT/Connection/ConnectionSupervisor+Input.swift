import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

extension ConnectionSupervisor {
    /// An event that the supervisor handles.
    enum Input: Sendable {
        /// The app called `connect()`.
        case connectRequested(source: String)
        /// The app called `disconnect()`.
        case disconnectRequested
        /// The app called `destroy()`.
        case destroyRequested

        /// The provider returned options. `date` is the current date, to compute the remaining time until the options
        /// expire.
        case credentialsArrived(AttemptID, ConnectGrant, date: Date)
        /// The provider returned no options, but an error.
        case credentialsFailed(AttemptID, any Error)

        /// The result of looking up DNS service records.
        case endpointsFound(AttemptID, EndpointSearch)

        /// The options of ``Action/open(_:_:)`` cannot be used, so no connection was opened.
        case openFailed(AttemptID, CourierError)
        /// CONNECT was written.
        case connectSent
        /// The server accepted the connection with CONNACK. The connection uses this version of MQTT.
        case accepted(ConnAck, ProtocolVersion)
        /// The connection that ``Action/open(_:_:)`` requested has ended, or could not be opened. `error` is set if
        /// neither the engine nor the byte channel knows the reason.
        case closed(CloseReason, ChannelCloseReason, error: CourierError? = nil)

        /// The network monitor reported this status. Repeated reports have no effect.
        case networkChanged(NetworkStatus)
        /// The app's lifecycle reported this phase. Repeated reports have no effect.
        case phaseChanged(AppPhase)
        /// The first topic to subscribe to was added (`true`), or the last topic was removed (`false`).
        case topicsChanged(areWanted: Bool)
        /// The machine was suspended and runs again. The connection may be dead.
        case resumedFromSuspend

        /// ``ConnectionSupervisor/deadline`` has passed. An early or unnecessary call has no effect.
        case timerFired
    }
}
