import CourierCore
import Testing

@testable import CourierMQTT

@Suite struct ConnectionEventTests {
    @Test func `each internal connection event maps to its public event, with times in milliseconds`() {
        let failure = ConnectionFailure.error(CourierError(.timedOut, "too late"))
        let shown: [(ConnectionEvent, String)] = [
            (.authStarted, "connectionServiceAuthStart"),
            (.authSucceeded(after: .milliseconds(1_500)), "connectionServiceAuthSuccess(timeTaken: 1500)"),
            (
                .authFailed(after: .microseconds(2_999), failure),
                "connectionServiceAuthFailure(timeTaken: 2, error: Optional(timedOut: too late))"
            ),
            (.attempt, "connectionAttempt"), (.connectPacketSent, "connectedPacketSent"),
            (.succeeded(after: .seconds(1)), "connectionSuccess(timeTaken: 1000)"),
            (
                .failed(after: .zero, .cancelled),
                "connectionFailure(timeTaken: 0, error: Optional(Swift.CancellationError()))"
            ),
            (
                .lost(after: .seconds(9), failure, sinceInbound: .seconds(3), sinceOutbound: nil),
                "connectionLost(timeTaken: 9000, error: Optional(timedOut: too late), "
                    + "diffLastInbound: Optional(3000), diffLastOutbound: nil)"
            ),
            (.disconnected, "connectionDisconnect"), (.reconnect, "reconnect"),
            (.connectDiscarded(reason: "r"), "connectDiscarded(reason: \"r\")"),
            (.courierDisconnect(clearsState: true), "courierDisconnect(clearState: true)"),
            (.appForeground, "appForeground"), (.appBackground, "appBackground"),
            (.networkAvailable, "connectionAvailable"), (.networkUnavailable, "connectionUnavailable"),
        ]
        for (event, words) in shown { #expect("\(event.type)" == words) }
    }

    @Test func `converting extreme, infinite or NaN times does not trap`() {
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.bounded(seconds: .infinity) == .seconds(1e9))
        #expect(Duration.bounded(seconds: 1e300) == .seconds(1e9))
        #expect(Duration.bounded(seconds: -.infinity) == .zero)
        #expect(Duration.bounded(seconds: .nan) == .zero)
        #expect(Duration.bounded(seconds: 2.5) == .milliseconds(2_500))
    }
}
