import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Passes the results in SUBACK and UNSUBACK to the callers that wait for them.
extension SubscriptionKeeper {
    /// Handles SUBACK.
    func subscribed(_ token: Token, _ subAck: SubAck) {
        actions += filters.subAck(Self.request(token), subAck.reasonCodes.map { ReasonCode($0) }, now: loop.now)
        perform()
    }

    /// Handles UNSUBACK.
    func unsubscribed(_ token: Token, _ unsubAck: UnsubAck) {
        actions += filters.unsubAck(Self.request(token), unsubAck.reasonCodes.map { ReasonCode($0) }, now: loop.now)
        perform()
    }

    /// Handles the failure of a SUBSCRIBE or UNSUBSCRIBE. Returns `false` if the token belongs to another kind of
    /// packet.
    func failed(_ token: Token, _ failure: EngineAction.Failure) -> Bool {
        guard token.rawValue & Self.tokenMark != 0 else { return false }
        let isLost = failure == .connectionLost || failure == .notConnected
        actions += filters.failed(Self.request(token), isLost ? .connectionLost : .notSent, now: loop.now)
        perform()
        return true
    }

    /// Passes the result of a subscribe or unsubscribe request to the caller with this id, if the caller still waits.
    func answer(_ id: UInt64, _ outcome: SubscriptionAction.Outcome) {
        guard let (filter, who) = waiting.removeValue(forKey: id) else { return }
        switch (who, outcome) {
        case (.subscriber(let told), .granted(let qos)): told(.success(qos))
        case (.reader(let reader), .granted): reader.granted()
        case (.unsubscriber(let told), .unsubscribed): told(.success(()))
        case (.unsubscriber(let told), .granted), (.unsubscriber(let told), .superseded):
            // After this unsubscribe call, another caller subscribed to the same filter. The later call decides, so the
            // unsubscribe call has nothing more to do. Its caller gets success.
            told(.success(()))
        case (.unsubscriber, .failed(let failure)):
            Self.fail(who, Self.error(failure, .unsubscription(filter: filter.string)))
        case (_, .failed(let failure)): Self.fail(who, Self.error(failure, .subscription(filter: filter.string)))
        case (.reader, .superseded), (.reader, .unsubscribed): break
        case (_, .superseded), (_, .unsubscribed):
            Self.fail(
                who,
                CourierError(
                    .subscriptionRefused,
                    "The subscription to \(filter.string.quoted()) was withdrawn before the broker answered."))
        case (_, .abandoned):
            Self.fail(
                who,
                CourierError(
                    .clientDestroyed,
                    "The client was destroyed before the broker answered for \(filter.string.quoted())."))
        }
    }

    static func fail(_ who: Waiting, _ error: CourierError) {
        switch who {
        case .subscriber(let told): told(.failure(error))
        case .unsubscriber(let told): told(.failure(error))
        case .reader(let reader): reader.end(error)
        }
    }

    /// Returns the error for a filter that the broker refused, or for a SUBSCRIBE or UNSUBSCRIBE that failed.
    static func error(_ failure: SubscriptionAction.Failure, _ subject: RequestSubject) -> CourierError {
        switch failure {
        case .refused(let code):
            PacketReasonCode(rawValue: code.rawValue).flatMap { CourierError($0, of: subject) }
                ?? CourierError(
                    .subscriptionRefused, "The broker refused \(subject) with \(code).", reasonCode: code)
        case .connectionLost: CourierError(.connectionLost, of: subject)
        case .notSent:
            CourierError(
                .subscriptionRefused, "\(subject) cannot be sent on this connection, because it is too long.",
                reasonCode: .packetTooLarge)
        }
    }
}
