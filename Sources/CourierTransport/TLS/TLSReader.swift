import COpenSSL

/// Reads certificates and private keys, from a file or from memory.
final class TLSReader {
    private let bio: OpaquePointer
    /// A copy of the bytes to read; `nil` for a file. The copy is overwritten with zeros before it is freed.
    private let memory: UnsafeMutableRawBufferPointer?
    /// The name in error messages: the path of the file, or a text that stands for the bytes in memory.
    let name: String

    /// Opens a file. `what` describes the expected contents in error messages.
    ///
    /// - Throws: An error with `code` that names the file.
    init(file: String, _ what: String, _ code: TransportError.Code) throws(TransportError) {
        ERR_clear_error()
        guard let bio = BIO_new_file(file, "r") else { throw TLSErrors.badFile(file, code, what) }
        self.bio = bio
        memory = nil
        name = file
    }

    /// Makes a reader for bytes in memory. `what` describes the expected contents in error messages.
    ///
    /// - Throws: An error with `code` if there are too many bytes, or if there is no memory.
    init(_ bytes: [UInt8], _ what: String, _ code: TransportError.Code) throws(TransportError) {
        ERR_clear_error()
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        memory.copyBytes(from: bytes)
        name = "the bytes in memory"
        guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(memory.baseAddress, count) else {
            memory.deallocate()
            throw TransportError(code, "no \(what) could be read from \(name): the data is too large, or memory is low")
        }
        self.bio = bio
        self.memory = memory
    }

    deinit {
        BIO_free(bio)
        guard let memory else { return }
        OPENSSL_cleanse(memory.baseAddress, memory.count)
        memory.deallocate()
    }

    /// Reads all certificates: one or more in PEM, or one in DER.
    ///
    /// - Throws: ``TransportError/Code/badCertificateFile`` if there is no certificate, or if a certificate cannot be
    ///   read.
    func certificates(_ what: String) throws(TransportError) -> [OwnedCertificate] {
        var certificates: [OwnedCertificate] = []
        while let certificate = courier_read_certificate(bio) {
            certificates.append(OwnedCertificate(takingOver: certificate))
        }
        var cause = ERR_peek_last_error()
        if courier_err_is_end_of_pem(cause) != 0 {
            ERR_clear_error()
            if !certificates.isEmpty { return certificates }
            // If the bytes are neither PEM nor DER, the error of the PEM reader is reported, because it says that the
            // bytes are no certificate.
            if courier_bio_rewind(bio) >= 0, let certificate = d2i_X509_bio(bio, nil) {
                return [OwnedCertificate(takingOver: certificate)]
            }
        } else {
            cause = TLSErrors.take()
        }
        ERR_clear_error()
        throw TLSErrors.badFile(name, .badCertificateFile, what, cause: cause)
    }

    /// Reads a private key in PEM or DER.
    ///
    /// - Throws: ``TransportError/Code/badPrivateKeyFile`` if no key can be read, or
    ///   ``TransportError/Code/wrongPassPhrase`` if the pass phrase is missing or wrong.
    func privateKey(_ passPhrase: String?) throws(TransportError) -> OwnedKey {
        var phrase = courier_pass_phrase()
        let secret = Array((passPhrase ?? "").utf8CString.dropLast())
        let key = secret.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            phrase.bytes = bytes.baseAddress
            phrase.count = bytes.count
            defer { phrase.bytes = nil }
            if let key = courier_read_private_key(bio, &phrase) { return key }
            guard phrase.was_asked == 0 else { return nil }
            // The mark keeps the error of the PEM reader, because this error is reported if reading DER fails too.
            ERR_set_mark()
            defer { ERR_pop_to_mark() }
            if courier_bio_rewind(bio) >= 0, let key = d2i_PrivateKey_bio(bio, nil) { return key }
            return courier_bio_rewind(bio) >= 0 ? courier_read_locked_key(bio, &phrase) : nil
        }
        defer { ERR_clear_error() }
        if let key { return OwnedKey(takingOver: key) }
        guard phrase.was_asked != 0 else {
            throw TLSErrors.badFile(name, .badPrivateKeyFile, "private key")
        }
        let what = passPhrase == nil ? "is missing" : "is wrong"
        throw TransportError(.wrongPassPhrase, "the pass phrase of the private key \(name) \(what)")
    }

    // MARK: PKCS#12

    /// A certificate, its private key, and the other certificates of the chain.
    typealias Contents = (certificate: OwnedCertificate, key: OwnedKey, others: [OwnedCertificate])

    /// Reads PKCS#12. For data that is encrypted with an old algorithm, such as RC2, it loads OpenSSL's legacy
    /// provider. The provider is used only in this call.
    ///
    /// - Throws: ``TransportError/Code/badCertificateFile`` if the data cannot be read, or
    ///   ``TransportError/Code/wrongPassPhrase`` if the pass phrase is missing or wrong.
    func pkcs12(_ passPhrase: String?) throws(TransportError) -> Contents {
        if let contents = try pkcs12(passPhrase, nil) { return contents }
        guard let library = OSSL_LIB_CTX_new() else { throw unreadable("there is not enough memory") }
        defer { OSSL_LIB_CTX_free(library) }
        guard let legacy = OSSL_PROVIDER_load(library, "legacy"), let standard = OSSL_PROVIDER_load(library, "default")
        else {
            ERR_clear_error()
            throw unreadable(
                "the data is encrypted with an old algorithm, and OpenSSL's legacy provider is not installed; "
                    + "on a machine with the legacy provider, write the file again with `openssl pkcs12 -legacy`")
        }
        defer {
            OSSL_PROVIDER_unload(legacy)
            OSSL_PROVIDER_unload(standard)
        }
        guard courier_bio_rewind(bio) >= 0, let contents = try pkcs12(passPhrase, library) else {
            throw unreadable("OpenSSL does not know the algorithms of the data")
        }
        return contents
    }

    /// Reads PKCS#12 with the algorithms of `library`. Returns `nil` if the library lacks an algorithm of the data.
    private func pkcs12(_ passPhrase: String?, _ library: OpaquePointer?) throws(TransportError) -> Contents? {
        var (key, certificate, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        let result = courier_read_pkcs12(bio, passPhrase ?? "", library, &key, &certificate, &others)
        let ownedKey = key.map { OwnedKey(takingOver: $0) }
        let ownedCertificate = certificate.map { OwnedCertificate(takingOver: $0) }
        var chain: [OwnedCertificate] = []
        if let others {
            chain = (0..<courier_x509_count(others)).compactMap { courier_x509_at(others, $0) }
                .compactMap { courier_x509_copy($0) }.map { OwnedCertificate(takingOver: $0) }
            courier_x509_stack_free(others)
        }
        let cause = ERR_peek_error()
        let text = TLSErrors.takeText()
        guard result == 1 else {
            if result < 0 { throw unreadable("the data is not PKCS#12 (\(text))") }
            if courier_err_is_wrong_pkcs12_phrase(cause) != 0 {
                let what = passPhrase == nil ? "is missing" : "is wrong"
                throw TransportError(.wrongPassPhrase, "the pass phrase of the PKCS#12 in \(name) \(what)")
            }
            if courier_err_is_pkcs12_mac_absent(cause) != 0 {
                throw unreadable(
                    "the data has no checksum (MAC), which is needed to check the pass phrase; "
                        + "write the file again with `openssl pkcs12 -export` without `-nomac`")
            }
            guard courier_err_is_unsupported_algorithm(cause) != 0 else { throw unreadable(text) }
            return nil
        }
        guard let ownedKey, let ownedCertificate else {
            throw unreadable("a certificate with its private key is missing")
        }
        guard library != nil else { return (ownedCertificate, ownedKey, chain) }
        guard let ownKey = courier_key_copy(ownedKey.pointer), let own = courier_x509_copy(ownedCertificate.pointer)
        else { throw unreadable(TLSErrors.takeText()) }
        return (OwnedCertificate(takingOver: own), OwnedKey(takingOver: ownKey), chain)
    }

    private func unreadable(_ why: String) -> TransportError {
        TransportError(.badCertificateFile, "no certificate and private key could be read from \(name): \(why)")
    }
}

/// Owns a certificate of OpenSSL, and frees the certificate when this object is released.
final class OwnedCertificate {
    let pointer: OpaquePointer
    init(takingOver pointer: OpaquePointer) { self.pointer = pointer }
    deinit { X509_free(pointer) }
}

/// Owns a private key of OpenSSL, and frees the key when this object is released.
final class OwnedKey {
    let pointer: OpaquePointer
    init(takingOver pointer: OpaquePointer) { self.pointer = pointer }
    deinit { EVP_PKEY_free(pointer) }
}
