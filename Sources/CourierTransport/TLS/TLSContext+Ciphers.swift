import COpenSSL

extension TLSContext {
    /// Limits a context to the cipher suites of a configuration.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if a list contains no usable suite, or a suite without
    ///   encryption or without authentication of the peer.
    static func limitCiphers(
        _ configuration: TLSClientConfiguration, of context: OpaquePointer
    ) throws(TransportError) {
        ERR_clear_error()
        if let list = configuration.ciphers {
            guard SSL_CTX_set_cipher_list(context, list) == 1 else {
                throw TransportError(
                    .invalidConfiguration,
                    "the cipher list \(list.debugDescription) is not usable: \(TLSErrors.takeText()); "
                        + "`openssl ciphers -v` shows the cipher suites of a list")
            }
            if let suite = weakSuite(of: context) {
                throw TransportError(
                    .invalidConfiguration,
                    "the cipher list \(list.debugDescription) has \(suite), which does not encrypt or authenticate; "
                        + "add \":!aNULL:!eNULL\" to the list")
            }
        }
        if let suites = configuration.cipherSuites, SSL_CTX_set_ciphersuites(context, suites) != 1 {
            throw TransportError(
                .invalidConfiguration,
                "the TLS 1.3 cipher suites \(suites.debugDescription) are not usable: \(TLSErrors.takeText()); "
                    + "`openssl ciphers -v -tls1_3` shows the names")
        }
    }

    /// Returns the name of the first suite without encryption or without authentication of the peer; `nil` if every
    /// suite has both.
    private static func weakSuite(of context: OpaquePointer) -> String? {
        guard let suites = SSL_CTX_get_ciphers(context) else { return nil }
        for index in 0..<courier_ssl_cipher_count(suites) {
            guard let suite = courier_ssl_cipher_at(suites, index) else { continue }
            if SSL_CIPHER_get_auth_nid(suite) == NID_auth_null || SSL_CIPHER_get_cipher_nid(suite) == NID_undef {
                return String(cString: SSL_CIPHER_get_name(suite))
            }
        }
        return nil
    }
}
