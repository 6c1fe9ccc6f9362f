import CourierCore
import CourierTransport
import Testing

@testable import CourierCommands
@testable import CourierMQTT

struct FinalErrorTests {
    @Test func `isFinal of a CONNACK error is true for exactly the reason codes after which the client stops`() {
        for row in LossPolicy.rows {
            for case .refused(let code) in row.causes {
                let error = CourierError(
                    CourierError.isAboutCredentials(code) ? .notAuthorized : .connectionRefused, "",
                    reasonCode: ReasonCode(code))
                #expect(error.isFinal == (row.response == .stop), "\(code)")
            }
        }
    }

    @Test func `isFinal of a DISCONNECT error is true for exactly the reason codes after which the client stops`() {
        for row in LossPolicy.rows {
            for case .disconnected(let code) in row.causes {
                let error = CourierError(
                    CourierError.isAboutCredentials(code) ? .notAuthorized : .disconnectedByServer, "",
                    reasonCode: ReasonCode(code))
                #expect(error.isFinal == (row.response == .stop), "\(code)")
            }
        }
    }

    @Test func `an invalid configuration and a missing client certificate are final errors`() {
        #expect(CourierError(.invalidConfiguration, "").isFinal)
        let wanted = CourierError(TransportError(.tlsClientCertificateRequired, ""))
        #expect(wanted.code == .secureConnectionFailed && wanted.isFinal)
        #expect(!CourierError(TransportError(.tlsCertificateExpired, "")).isFinal)
        #expect(!CourierError(.connectionRefused, "Another version is tried next.").isFinal)
    }
}
