import COpenSSL

extension TLSContext {
    /// The default TLS 1.2 cipher suites for a pre-shared key. They use no certificates, and the suites with forward
    /// secrecy come first.
    private static let preSharedKeySuites = "kECDHEPSK:kDHEPSK:kPSK:!eNULL"
    private static let longestIdentity = 128
    private static let longestKey = 256

    /// Makes a client's connections offer a pre-shared key to the peer.
    ///
    /// The peer may send a certificate instead, if TLS 1.3 or a cipher list of the app allows it. That certificate is
    /// checked as usual.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for a key or an identity that TLS does not allow, or if
    ///   the configuration also has pins.
    static func offer(
        _ key: TLSPreSharedKey, _ configuration: TLSClientConfiguration, in context: OpaquePointer
    ) throws(TransportError) {
        let count = key.identity.utf8.count
        guard (1...longestIdentity).contains(count), !key.identity.utf8.contains(0) else {
            throw TransportError(
                .invalidConfiguration,
                "the identity of a pre-shared key must have 1 to \(longestIdentity) bytes without U+0000; "
                    + "this identity has \(count) bytes")
        }
        guard (1...longestKey).contains(key.key.count) else {
            throw TransportError(
                .invalidConfiguration,
                "a pre-shared key must have 1 to \(longestKey) bytes; this key has \(key.key.count) bytes")
        }
        guard configuration.pins.isEmpty else {
            throw TransportError(
                .invalidConfiguration,
                "pins need certificates, but a peer with a pre-shared key sends no certificate; "
                    + "leave out `pins` or `preSharedKey`")
        }
        if configuration.ciphers == nil, SSL_CTX_set_cipher_list(context, preSharedKeySuites) != 1 {
            throw TransportError(
                .invalidConfiguration, "OpenSSL has no cipher suites for pre-shared keys: \(TLSErrors.takeText())")
        }
        SSL_CTX_set_psk_client_callback(context) { ssl, _, identity, identitySize, key, keySize in
            guard let ssl, let identity, let key, let owner = courier_ssl_owner(ssl) else { return 0 }
            let session = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
            guard case .client(let configuration) = session.context.role, let shared = configuration.preSharedKey,
                shared.identity.utf8.count < Int(identitySize), shared.key.count <= Int(keySize)
            else { return 0 }
            for (index, byte) in shared.identity.utf8.enumerated() { identity[index] = CChar(bitPattern: byte) }
            identity[shared.identity.utf8.count] = 0
            for (index, byte) in shared.key.enumerated() { key[index] = byte }
            return UInt32(shared.key.count)
        }
    }
}
