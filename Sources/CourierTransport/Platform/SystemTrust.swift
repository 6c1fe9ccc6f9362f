import COpenSSL

/// Loads the certificate authorities that the operating system trusts, from the files that OpenSSL was built for.
enum SystemTrust {
    /// Loads the system's authorities. Unlike `SSL_CTX_set_default_verify_paths`, it reports a lack of descriptors or
    /// memory.
    static func load(into context: OpaquePointer) throws(TransportError) {
        // Only a lack of descriptors or memory is an error. Any other failure is ignored, because the file may be
        // missing: some systems have only a directory of authorities.
        if courier_ssl_ctx_load_default_file(context) != 1,
            let lack = TLSErrors.shortage(
                TLSErrors.take(), "no CA certificates could be read from the system's file")
        {
            throw lack
        }
        // OpenSSL reads the default directory and the default store later, when it checks a certificate.
        SSL_CTX_set_default_verify_dir(context)
        SSL_CTX_set_default_verify_store(context)
    }
}
