import COpenSSL

extension TLSIdentity {
    /// Loads the certificate, the other certificates of its chain, and the private key into an OpenSSL context.
    ///
    /// - Throws: ``TransportError`` that names the file and the problem.
    func load(into context: OpaquePointer) throws(TransportError) {
        switch source {
        case .files(let certificates, let privateKey):
            try use(
                TLSReader(file: certificates, "certificate", .badCertificateFile),
                { () throws(TransportError) in try TLSReader(file: privateKey, "private key", .badPrivateKeyFile) },
                in: context)
        case .memory(let certificates, let privateKey):
            try use(
                TLSReader(certificates, "certificate", .badCertificateFile),
                { () throws(TransportError) in try TLSReader(privateKey, "private key", .badPrivateKeyFile) },
                in: context)
        case .pkcs12File(let file):
            try usePKCS12(TLSReader(file: file, "certificate", .badCertificateFile), in: context)
        case .pkcs12(let bytes):
            try usePKCS12(TLSReader(bytes, "certificate", .badCertificateFile), in: context)
        case .hardware(let certificates, let uri, let module):
            let key = try PKCS11URI(uri)
            let reader = try TLSReader(file: certificates, "certificate", .badCertificateFile)
            let chain = try reader.certificates("certificate")
            try Self.use(
                chain[0], chain.dropFirst(), PKCS11Engine.key(key, pin: passPhrase, module: module), in: context,
                mismatch: "the private key \(key.text) does not belong to the certificate \(reader.name)")
        }
    }

    private func use(
        _ certificates: TLSReader, _ keys: () throws(TransportError) -> TLSReader, in context: OpaquePointer
    ) throws(TransportError) {
        let chain = try certificates.certificates("certificate")
        let reader = try keys()
        let key = try reader.privateKey(passPhrase)
        try Self.use(
            chain[0], chain.dropFirst(), key, in: context,
            mismatch: "the private key \(reader.name) does not belong to the certificate \(certificates.name)")
    }

    private func usePKCS12(_ reader: TLSReader, in context: OpaquePointer) throws(TransportError) {
        let (certificate, key, others) = try reader.pkcs12(passPhrase)
        try Self.use(
            certificate, others[...], key, in: context,
            mismatch: "the private key in \(reader.name) does not belong to its certificate")
    }

    private static func use(
        _ certificate: OwnedCertificate, _ others: ArraySlice<OwnedCertificate>, _ key: OwnedKey,
        in context: OpaquePointer, mismatch: String
    ) throws(TransportError) {
        guard SSL_CTX_use_certificate(context, certificate.pointer) == 1,
            others.allSatisfy({ courier_ssl_ctx_add_chain(context, $0.pointer) == 1 })
        else {
            throw TransportError(.badCertificateFile, "the certificate cannot be used: \(TLSErrors.takeText())")
        }
        guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1, SSL_CTX_check_private_key(context) == 1 else {
            throw TransportError(.keyMismatch, "\(mismatch): \(TLSErrors.takeText())")
        }
    }
}
