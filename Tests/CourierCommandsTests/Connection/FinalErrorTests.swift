import CourierCore
import CourierTransport
import Testing

@testable import CourierCommands
@testable import CourierMQTT

struct FinalErrorTests {
    @Test func `a refusal is final where the client stops`() {
        for row in LossPolicy.rows {
            for case .refused(let code) in row.causes {
                let error = CourierError(
                    CourierError.isAboutCredentials(code) ? .notAuthorized : .connectionRefused, "",
                    reasonCode: ReasonCode(code))
                #expect(error.isFinal == (row.response == .stop), "\(code)")
            }
        }
    }

    @Test func `so is an end of a connection by the broker`() {
        for row in LossPolicy.rows {
            for case .disconnected(let code) in row.causes {
                let error = CourierError(
                    CourierError.isAboutCredentials(code) ? .notAuthorized : .disconnectedByServer, "",
                    reasonCode: ReasonCode(code))
                #expect(error.isFinal == (row.response == .stop), "\(code)")
            }
        }
    }

    @Test func `so is what is wrong here, and a certificate of the client that is missing`() {
        #expect(CourierError(.invalidConfiguration, "").isFinal)
        let wanted = CourierError(TransportError(.tlsClientCertificateRequired, ""))
        #expect(wanted.code == .secureConnectionFailed && wanted.isFinal)
        #expect(!CourierError(TransportError(.tlsCertificateExpired, "")).isFinal)
        #expect(!CourierError(.connectionRefused, "Another version is tried next.").isFinal)
    }
}
