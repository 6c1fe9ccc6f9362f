import CourierTransport
import Testing

@testable import CourierCommands

struct CertificateReviewTests {
    private static let day: Int64 = 86_400
    private static let now: Int64 = 1_700_000_000  // 2023-11-14

    /// A certificate that is valid since 100 days ago and expires in `days` days.
    private static func certificate(
        days: Double, from: Int64 = now - 100 * day, names: [String] = ["broker.example"], isSelfSigned: Bool = false
    ) -> TLSCertificate {
        TLSCertificate(
            subject: "CN=broker", issuer: isSelfSigned ? "CN=broker" : "CN=authority", names: names, notBefore: from,
            notAfter: now + Int64(days * Double(day)), isSelfSigned: isSelfSigned)
    }

    private static func review(
        _ certificates: [TLSCertificate], _ verdict: TLSPeerChain.Verdict = .trusted, warningDays: Int = 21
    ) -> CertificateReview {
        CertificateReview(
            chain: TLSPeerChain(certificates, verdict), host: "broker.example", warningDays: warningDays, now: now)
    }

    @Test(arguments: [
        (400.0, "400 days left", 400), (21, "21 days left", 21), (20.9, "20 days left", 20), (1, "1 day left", 1),
        (0.5, "less than one day left", 0), (-0.1, "expired 1 day ago", -1), (-1, "expired 1 day ago", -1),
        (-1.1, "expired 2 days ago", -2), (-400, "expired 400 days ago", -400),
    ])
    func `the remaining days of a certificate are rounded down to whole days`(days: Double, words: String, left: Int)
        throws
    {
        let certificate = Self.certificate(days: days)
        let review = Self.review([certificate])
        #expect(review.daysLeft(certificate) == left)
        let finding = try #require(review.findings.first)
        #expect(finding.text.hasSuffix(", \(words)"), "\(finding.text)")
        #expect(finding.state == (left < 21 ? .notice : .good) && (finding.advice != nil) == (left < 21))
    }

    @Test func `a certificate is reported with a note if it expires in fewer days than --expiry-days`() {
        let certificate = Self.certificate(days: 40)
        #expect(Self.review([certificate], warningDays: 40).findings.map(\.state) == [.good])
        #expect(Self.review([certificate], warningDays: 41).findings.map(\.state) == [.notice])
        #expect(Self.review([certificate], warningDays: 0).findings.map(\.state) == [.good])
    }

    @Test func `each certificate is described by its position, subject, names, issuer and dates`() {
        let names = (1...7).map { "host\($0).example" }
        let texts = Self.review([
            Self.certificate(days: 90, names: names), Self.certificate(days: 900, names: [], isSelfSigned: true),
        ]).findings.map(\.text)
        #expect(
            texts == [
                "certificate 1 of 2: CN=broker, for host1.example, host2.example, host3.example, host4.example, "
                    + "host5.example and 2 more; signed by CN=authority; 2023-08-06 to 2024-02-12, 90 days left",
                "certificate 2 of 2: CN=broker; signed by itself; 2023-08-06 to 2026-05-02, 900 days left",
            ])
    }

    @Test func `a certificate that is not valid yet is described without remaining days`() {
        let finding = Self.review([Self.certificate(days: 90, from: Self.now + 1)]).findings[0]
        #expect(finding.state == .notice && finding.text.hasSuffix(", not valid yet"))
    }

    @Test func `the certificate review names the expired certificate of a chain`() {
        let chain = [Self.certificate(days: 90), Self.certificate(days: -5, isSelfSigned: true)]
        let authority = Self.review(chain, .refused(at: 1)).problem(.tlsCertificateExpired)
        #expect(
            authority?.text == "the certificate of the issuer CN=broker expired on 2023-11-09"
                && authority?.advice?.contains("the authority and") == true)
        let own = Self.review([Self.certificate(days: -5)], .refused(at: 0)).problem(.tlsCertificateExpired)
        #expect(own?.text == "the certificate of broker.example expired on 2023-11-09")
    }

    @Test(arguments: [
        ([certificate(days: 9, isSelfSigned: true)], "is self-signed"),
        (
            [certificate(days: 9), certificate(days: 9, isSelfSigned: true)],
            "depends on the untrusted authority CN=broker"
        ),
        ([certificate(days: 9)], "depends on the unknown authority CN=authority"),
    ])
    func `an untrusted chain is reported with its cause and the advice to use --cafile`(
        chain: [TLSCertificate], words: String
    ) throws {
        let problem = try #require(Self.review(chain, .refused(at: 0)).problem(.tlsUnknownAuthority))
        #expect(problem.state == .problem && problem.text.contains(words), "\(problem.text)")
        #expect(problem.advice?.contains("--cafile") == true)
    }

    @Test func `the certificate review reports no problem if no certificate explains the TLS error`() {
        let certificate = Self.certificate(days: 9)
        #expect(Self.review([certificate], .refused(at: 0)).problem(.tlsAlert) == nil)
        #expect(Self.review([certificate]).problem(.tlsUnknownAuthority) == nil)
        #expect(Self.review([certificate], .refused(at: 3)).problem(.tlsCertificateExpired) == nil)
        #expect(Self.review([], .refused(at: 0)).problem(.tlsCertificateExpired) == nil)
    }
}
