import COpenSSL

extension TLSIdentity {
    /// Loads the certificate, those behind it and the key.
    ///
    /// - Throws: ``TransportError`` that names the file that is wrong and how.
    func load(into context: OpaquePointer) throws(TransportError) {
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw TLSErrors.badFile(certificateFile, .badCertificateFile, "certificate")
        }
        guard let bio = BIO_new_file(privateKeyFile, "r") else {
            throw TLSErrors.badFile(privateKeyFile, .badPrivateKeyFile, "private key")
        }
        defer { BIO_free(bio) }
        var phrase = courier_pass_phrase()
        let secret = Array((passPhrase ?? "").utf8CString.dropLast())
        let key = secret.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            phrase.bytes = bytes.baseAddress
            phrase.count = bytes.count
            defer { phrase.bytes = nil }
            return courier_read_private_key(bio, &phrase)
        }
        guard let key else {
            guard phrase.was_asked != 0 else {
                throw TLSErrors.badFile(privateKeyFile, .badPrivateKeyFile, "private key")
            }
            ERR_clear_error()
            let what = passPhrase == nil ? "is missing" : "is wrong"
            throw TransportError(.wrongPassPhrase, "the pass phrase of the private key \(privateKeyFile) \(what)")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
            let reason = TLSErrors.takeText()
            throw TransportError(
                .keyMismatch,
                "the private key \(privateKeyFile) does not belong to the certificate \(certificateFile): \(reason)")
        }
    }
}
