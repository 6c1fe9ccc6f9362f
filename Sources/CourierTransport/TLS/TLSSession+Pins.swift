import COpenSSL

extension TLSSession {
    /// Checks the peer's certificates against the pins of the configuration. A resumed session is not checked again,
    /// because its first connection was checked.
    ///
    /// - Throws: ``TransportError/Code/tlsPinMismatch`` if no certificate has a pinned key.
    func checkPins() throws(TransportError) {
        guard case .client(let configuration) = context.role, !configuration.pins.isEmpty,
            SSL_session_reused(ssl) == 0
        else { return }
        var keys: [[UInt8]] = []
        func collect(_ certificate: OpaquePointer?) {
            var digest = [UInt8](repeating: 0, count: 32)
            if let certificate, courier_x509_key_digest(certificate, &digest) == 1 { keys.append(digest) }
        }
        if let chain = SSL_get0_verified_chain(ssl), configuration.trust != .insecureSkipsVerification {
            for index in 0..<courier_x509_count(chain) { collect(courier_x509_at(chain, index)) }
        } else {
            // If verification is off, only the peer's own certificate is compared with the pins, because the peer has
            // proved that it owns the key of this certificate.
            collect(SSL_get0_peer_certificate(ssl))
        }
        if configuration.pins.contains(where: { keys.contains($0.sha256) }) { return }
        throw TransportError(
            .tlsPinMismatch,
            "no certificate of \(peerName) has a pinned public key; the certificate was replaced, or the connection is intercepted"
        )
    }
}
