import Glibc
import Testing

@testable import CourierTransport

@Suite struct TLSErrorsTests {
    /// Returns OpenSSL's code for an error number of the operating system.
    private func code(_ number: Int32) -> UInt { 1 << 31 | UInt(number) }

    @Test func `the error for an unreadable certificate file contains the error text of the system`() {
        let error = TLSErrors.badFile("ca.pem", .badCertificateFile, "certificate", cause: code(EACCES))
        #expect(error.code == .badCertificateFile)
        #expect(error.message == "no certificate could be read from ca.pem: Permission denied")
        #expect(error.errno == EACCES)
    }

    @Test(
        arguments: [
            (EMFILE, .tooManyDescriptors), (ENFILE, .tooManyDescriptors), (ENOMEM, .systemFailure),
        ] as [(Int32, TransportError.Code)])
    func `if descriptors or memory are used up, the TLS error has its own code, not badCertificateFile`(
        _ number: Int32, _ expected: TransportError.Code
    ) {
        let error = TLSErrors.badFile("ca.pem", .badCertificateFile, "certificate", cause: code(number))
        #expect(error.code == expected)
        #expect(error.message.contains("no certificate could be read from ca.pem"))
        #expect(error.errno == number)
    }
}
