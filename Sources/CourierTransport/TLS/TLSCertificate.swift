import COpenSSL

/// The main fields of a certificate, for diagnostics.
///
/// The texts may contain any characters, because the certificate's creator chooses them. Only ``subject`` and
/// ``issuer`` contain no control characters.
package struct TLSCertificate: Hashable, Sendable {
    /// The maximum number of names to read, because a certificate may contain thousands of names.
    static let nameLimit = 100

    /// The owner of the certificate, such as `CN=broker.example,O=Example`.
    package let subject: String
    /// The authority that signed the certificate.
    package let issuer: String
    /// The host names and addresses that the certificate is valid for, at most the first 100. Empty if the certificate
    /// has only a ``subject``.
    package let names: [String]
    /// The start of the validity, in seconds since 1970.
    package let notBefore: Int64
    /// The end of the validity, in seconds since 1970.
    package let notAfter: Int64
    /// True if the certificate is signed with its own key, as the certificates of root authorities are.
    package let isSelfSigned: Bool

    /// Makes a value from its fields. Tests may omit `names` and `isSelfSigned`.
    package init(
        subject: String, issuer: String, names: [String] = [], notBefore: Int64, notAfter: Int64,
        isSelfSigned: Bool = false
    ) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.isSelfSigned = isSelfSigned
    }
}

extension TLSCertificate {
    /// Reads an `X509` of OpenSSL, which the caller still owns. Returns `nil` if a time of the validity is invalid.
    init?(_ certificate: OpaquePointer) {
        var from: Int64 = 0
        var until: Int64 = 0
        guard courier_asn1_seconds(X509_get0_notBefore(certificate), &from) == 1,
            courier_asn1_seconds(X509_get0_notAfter(certificate), &until) == 1
        else { return nil }
        self.init(
            subject: Self.text(X509_get_subject_name(certificate)),
            issuer: Self.text(X509_get_issuer_name(certificate)),
            names: Self.names(certificate), notBefore: from, notAfter: until,
            isSelfSigned: X509_self_signed(certificate, 0) == 1)
    }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        courier_x509_print_name(bio, name)
        var bytes: UnsafePointer<UInt8>?
        let count = courier_bio_memory(bio, &bytes)
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func names(_ certificate: OpaquePointer) -> [String] {
        guard let list = courier_x509_names(certificate) else { return [] }
        defer { GENERAL_NAMES_free(list) }
        return (0..<min(courier_names_count(list), Int32(nameLimit))).compactMap { index in
            var bytes: UnsafePointer<UInt8>?
            var count: Int32 = 0
            switch courier_names_at(list, index, &bytes, &count) {
            case Int32(GEN_DNS):
                return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
            case Int32(GEN_IPADD):
                var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
                guard courier_address_text(bytes, count, &text) == 1 else { return nil }
                return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            default: return nil
            }
        }
    }
}
