import CourierCore
import CourierTransport
import Foundation

/// Reports the connection status to the app.
extension ClientCoordinator {
    /// Sends the status to its publisher if the status has changed. Called on the event loop after each change of the
    /// supervisor or of ``connectionFailure``.
    func reportStatus() {
        let plan = supervisor.plan
        let failure = plan.state == .connected ? nil : connectionFailure
        guard plan != reportedPlan || failure?.message != status.value.failure?.message else { return }
        reportedPlan = plan
        let now = Date()
        let nextAttempt = plan.nextAttempt.map { now.addingTimeInterval(loop.now.duration(to: $0) / .seconds(1)) }
        status.send(
            ConnectionStatus(
                plan.state, since: now, endpoint: plan.endpoint, attempt: plan.attempt, nextAttempt: nextAttempt,
                failure: failure))
    }
}
