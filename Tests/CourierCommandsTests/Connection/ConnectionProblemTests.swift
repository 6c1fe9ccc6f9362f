import CourierCore
import CourierTransport
import Testing

@testable import CourierCommands

/// The lines that `courier` prints when a connection could not be opened.
@Suite struct ConnectionProblemTests {
    @Test func `the error for an unknown authority names the option --cafile, and not the client's property trust`() {
        let cause = TransportError(.tlsUnknownAuthority, "add its certificate to the trusted authorities")
        let error = CourierError(
            .secureConnectionFailed, "\(cause.message), the property `trust` of `config.tls`", cause: cause)
        let problem = ConnectionProblem(unopened: error)
        #expect(problem.lines == ["Error: A TLS error occurred.", "\(cause.message) (--cafile)"])
    }
}
