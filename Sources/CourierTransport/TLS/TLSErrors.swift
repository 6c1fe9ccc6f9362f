import COpenSSL

/// Converts errors of OpenSSL into `TransportError`.
enum TLSErrors {
    /// Returns the oldest OpenSSL error of this thread, because the oldest error is the cause. Clears all errors of the
    /// thread.
    static func take() -> UInt {
        let code = ERR_get_error()
        ERR_clear_error()
        return code
    }

    /// Returns the text for an error, from OpenSSL or from the operating system.
    static func text(_ code: UInt) -> String {
        if let number = systemError(code) { return describe(errno: number) }
        return courier_err_reason_text(code).map { String(cString: $0) }
            ?? (code == 0 ? "no reason given" : "error \(code)")
    }

    /// Returns the error number of the operating system; `nil` if the error is an error of OpenSSL itself.
    private static func systemError(_ code: UInt) -> Int32? {
        courier_err_library(code) == ERR_LIB_SYS ? courier_err_reason(code) : nil
    }

    /// Returns the text of the oldest OpenSSL error of this thread. Clears all errors of the thread.
    static func takeText() -> String { text(take()) }

    /// Returns an error if the cause is a lack of descriptors or memory, otherwise `nil`. `what` describes the failed
    /// action.
    static func shortage(_ code: UInt, _ what: String) -> TransportError? {
        guard let number = systemError(code), TransportError.isShortage(number) else { return nil }
        return .system(number, what)
    }

    /// Returns the error for a file that OpenSSL could not load. The error has `code`, unless the cause is a lack of
    /// descriptors or memory.
    static func badFile(
        _ file: String, _ code: TransportError.Code, _ what: String, cause: UInt = TLSErrors.take()
    ) -> TransportError {
        let sentence = "no \(what) could be read from \(file)"
        return shortage(cause, sentence)
            ?? TransportError(code, "\(sentence): \(text(cause))", errno: systemError(cause))
    }

    /// Returns whether an error means that the peer's certificate was refused.
    static func isOfVerification(_ code: UInt) -> Bool {
        courier_err_library(code) == ERR_LIB_SSL && courier_err_reason(code) == SSL_R_CERTIFICATE_VERIFY_FAILED
    }

    /// Returns the error for a refused certificate of the peer. `result` is the result of OpenSSL's verification.
    static func verification(
        _ result: Int, peerName: String, expected: String?, hasAlternativeNames: Bool = true
    ) -> TransportError {
        let words = String(cString: X509_verify_cert_error_string(result))
        func error(_ code: TransportError.Code, _ sentence: String) -> TransportError { TransportError(code, sentence) }
        switch Int32(truncatingIfNeeded: result) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return error(
                .tlsCertificateExpired, "the certificate of \(peerName) has expired; its owner has to renew it")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return error(
                .tlsCertificateNotYetValid,
                "the certificate of \(peerName) is not valid yet; is the clock right?")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            guard hasAlternativeNames else {
                return error(
                    .tlsHostNameMismatch,
                    "the certificate of \(peerName) has no subject alternative name, and its common name is ignored; "
                        + "its owner has to renew the certificate with the alternative name “\(expected ?? peerName)”")
            }
            return error(
                .tlsHostNameMismatch, "the certificate of \(peerName) is not for “\(expected ?? peerName)”")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            return error(
                .tlsUnknownAuthority,
                "the certificate of \(peerName) is not signed by a trusted authority (\(words)); "
                    + "if you trust that authority, add its certificate to the trusted authorities")
        default: return error(.tlsCertificateRejected, "the certificate of \(peerName) was not accepted: \(words)")
        }
    }

    /// Returns the error for a handshake or a connection that failed with OpenSSL's error `code`.
    static func failure(
        _ code: UInt, peerName: String, isEstablished: Bool, lacksClientCertificate: Bool
    ) -> TransportError {
        let words = text(code)
        func error(_ code: TransportError.Code, _ sentence: String) -> TransportError { TransportError(code, sentence) }
        guard courier_err_library(code) == ERR_LIB_SSL else {
            return isEstablished
                ? error(.tlsAlert, "TLS with \(peerName) ended: \(words)")
                : error(.tlsHandshakeFailed, "TLS with \(peerName) failed: \(words)")
        }
        switch courier_err_reason(code) {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_VERSION_TOO_LOW,
            SSL_R_UNKNOWN_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_INAPPROPRIATE_FALLBACK:
            return error(
                .tlsProtocolVersion, "\(peerName) supports no TLS version that this client allows (\(words))")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_BAD_RECORD_TYPE,
            SSL_R_RECORD_LENGTH_MISMATCH:
            return error(
                .tlsNotSpoken, "\(peerName) does not use TLS (\(words)); is this a port for connections without TLS?")
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return error(.tlsClientCertificateRequired, "\(peerName) requires a certificate of the client (\(words))")
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE where lacksClientCertificate:
            return error(.tlsClientCertificateRequired, "\(peerName) requires a certificate of the client (\(words))")
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
            SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_TLSV1_ALERT_ACCESS_DENIED,
            SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
            return error(.tlsClientCertificateRejected, "\(peerName) did not accept our certificate (\(words))")
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL:
            return error(
                .tlsNoCommonProtocol, "\(peerName) supports none of the offered application protocols (ALPN) (\(words))"
            )
        default:
            return isEstablished
                ? error(.tlsAlert, "TLS with \(peerName) ended: \(words)")
                : error(.tlsHandshakeFailed, "the TLS handshake with \(peerName) failed: \(words)")
        }
    }
}
