import CourierTransport
import Foundation

/// Describes a broker's certificates: their owners, their validity, and why one of them was refused.
struct CertificateReview {
    /// The maximum number of names that are shown for a certificate, because a certificate can have a hundred names.
    private static let shownNames = 5
    private static let day: Int64 = 86_400

    let chain: TLSPeerChain
    /// The host name or address that the doctor connected to.
    let host: String
    /// If a certificate expires in fewer days than this, its finding is a notice.
    let warningDays: Int
    /// The current time in seconds since 1970.
    let now: Int64

    /// One finding for each certificate. Such a finding never has the state `problem`, because the TLS handshake
    /// decides whether the certificates are accepted.
    var findings: [Finding] {
        chain.certificates.enumerated().map { index, certificate in
            let text = "certificate \(index + 1) of \(chain.certificates.count): \(description(of: certificate))"
            return if let advice = advice(about: certificate) {
                .notice(.tls, text, advice)
            } else {
                .good(.tls, text)
            }
        }
    }

    private func description(of certificate: TLSCertificate) -> String {
        let issuer = certificate.isSelfSigned ? "itself" : certificate.issuer
        let names = certificate.names.isEmpty ? "" : ", for \(Self.shown(certificate.names))"
        return "\(certificate.subject)\(names); signed by \(issuer); \(Self.date(certificate.notBefore)) to "
            + "\(Self.date(certificate.notAfter)), \(timeLeft(certificate))"
    }

    private func advice(about certificate: TLSCertificate) -> String? {
        let end = Self.date(certificate.notAfter)
        if isExpired(certificate) { return "Renew the certificate: clients that check the validity cannot connect." }
        if isEarly(certificate) {
            return "Check this machine's clock. If the clock is right, ask the issuer of the certificate."
        }
        guard daysLeft(certificate) < warningDays else { return nil }
        return "Renew the certificate before \(end). After that, clients that check the validity cannot connect."
    }

    // MARK: Validity

    /// Returns the number of whole days until the certificate expires. The number is negative if the certificate has
    /// already expired.
    func daysLeft(_ certificate: TLSCertificate) -> Int {
        // The difference cannot overflow, because the year in a certificate has four digits.
        let seconds = certificate.notAfter - now
        return Int(seconds >= 0 ? seconds / Self.day : (seconds + 1) / Self.day - 1)
    }

    private func isExpired(_ certificate: TLSCertificate) -> Bool { certificate.notAfter < now }

    private func isEarly(_ certificate: TLSCertificate) -> Bool { certificate.notBefore > now }

    private func timeLeft(_ certificate: TLSCertificate) -> String {
        if isEarly(certificate) { return "not valid yet" }
        let days = daysLeft(certificate)
        if isExpired(certificate) { return "expired \(Self.count(-days)) ago" }
        return days == 0 ? "less than one day left" : "\(Self.count(days)) left"
    }

    private static func count(_ days: Int) -> String { days == 1 ? "1 day" : "\(days) days" }

    /// Returns the date in ISO 8601 format, in UTC.
    static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601.year().month().day())
    }

    private static func shown(_ names: [String]) -> String {
        let rest = names.count - shownNames
        return names.prefix(shownNames).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

// MARK: - Reason for a refused certificate

extension CertificateReview {
    /// Returns a finding with the cause and with advice. Returns `nil` if the certificates show no more about the cause
    /// than the error code.
    func problem(_ code: TransportError.Code) -> Finding? {
        guard case .refused(let place) = chain.verdict, let first = chain.certificates.first,
            let last = chain.certificates.last, let refused = chain.certificates.dropFirst(place).first
        else { return nil }
        let who = place == 0 ? "the certificate of \(host)" : "the certificate of the issuer \(refused.subject)"
        let owner = place == 0 ? "the broker's administrator" : "the authority and the broker's administrator"
        switch code {
        case .tlsCertificateExpired:
            return .problem(
                .tls, "\(who) expired on \(Self.date(refused.notAfter))", "Ask \(owner) to renew the certificate.")
        case .tlsCertificateNotYetValid:
            return .problem(
                .tls, "\(who) is not valid before \(Self.date(refused.notBefore))",
                "This machine's clock shows \(Self.date(now)). If the date is wrong, set the clock. "
                    + "If the date is right, ask the broker's administrator.")
        case .tlsHostNameMismatch where first.names.isEmpty:
            return .problem(
                .tls, "the certificate of \(host) has no subject alternative name, and clients ignore its common name",
                "Ask the broker's administrator for a certificate with the subject alternative name \(host).")
        case .tlsHostNameMismatch:
            return .problem(
                .tls, "the certificate is for \(Self.shown(first.names)), but not for \(host)",
                "Connect to a host name that the certificate contains, or get a certificate for \(host).")
        case .tlsUnknownAuthority where first.isSelfSigned:
            return .problem(
                .tls, "the certificate of \(host) is self-signed: no authority confirms it",
                "If you trust the certificate, give it with --cafile. Otherwise, get a certificate from an authority."
            )
        case .tlsUnknownAuthority where last.isSelfSigned:
            return .problem(
                .tls, "the certificate of \(host) depends on the untrusted authority \(last.subject)",
                "If this is the broker's own authority, give the authority's certificate with --cafile.")
        case .tlsUnknownAuthority:
            return .problem(
                .tls, "the certificate of \(host) depends on the unknown authority \(last.issuer)",
                "If \(last.issuer) is the broker's own authority, give the authority's certificate with --cafile. "
                    + "If a trusted authority signed the certificate of \(last.issuer), the broker must send it too. "
                    + "Ask the broker's administrator.")
        default: return nil
        }
    }
}
