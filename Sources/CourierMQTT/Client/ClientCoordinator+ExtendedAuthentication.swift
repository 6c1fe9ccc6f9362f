import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Handles extended authentication of MQTT 5: the AUTH packets after CONNECT, and re-authentication on an open
/// connection.
extension ClientCoordinator {
    func reauthenticate(_ authentication: ExtendedAuthentication) {
        send(Auth(reasonCode: .reauthenticate, properties: PacketProperties(authentication.properties)))
    }

    /// Asks the app's provider for the response to the broker's challenge, and sends the response. Does nothing if the
    /// challenge names no authentication method.
    func answer(_ challenge: Auth) {
        guard let method = challenge.properties.authenticationMethod else { return }
        let data = challenge.properties.authenticationData.map { Data($0.bytes) }
        challengeCount += 1
        let (connection, number) = (connectionNumber, challengeCount)
        credentials.answer(data, method: method) { [weak self] result in
            guard let self else { return }
            loop.execute { [self] in
                // Ignore the response if a newer connection was opened, or if a later challenge arrived.
                guard connection == connectionNumber, number == challengeCount else { return }
                answered(result, method)
            }
        }
    }

    private func answered(_ result: Result<Data, any Error>, _ method: String) {
        switch result {
        case .success(let data):
            let next = ExtendedAuthentication(method: method, data: data)
            send(Auth(reasonCode: .continueAuthentication, properties: PacketProperties(next.properties)))
        case .failure(let error):
            let bridged = error as NSError
            let words = (error as? CourierError)?.message ?? "\(bridged.domain), code \(bridged.code)"
            let broker = info?.endpointName ?? ""
            let text = "The auth provider did not answer the challenge of the broker \(broker): \(words)"
            giveUp(CourierError(.authenticationFailed, text.asSentence, cause: error))
        }
    }

    private func send(_ auth: Auth) {
        do throws(EncodeError) {
            try driver.authenticate(auth)
        } catch {
            let text = "A step of the authentication cannot be sent: \(error)"
            giveUp(CourierError(.authenticationFailed, text.asSentence, cause: error))
        }
    }

    /// Ends the connection. When the connection has closed, `error` is reported to the app as the reason.
    private func giveUp(_ error: CourierError) {
        authenticationFailure = error
        driver.disconnect(Disconnect(reasonCode: .unspecifiedError))
    }
}
