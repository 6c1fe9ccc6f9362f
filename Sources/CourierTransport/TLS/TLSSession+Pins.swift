import COpenSSL

extension TLSSession {
    /// Compares the peer's certificates with the pins of the configuration. A resumed session comes from a connection whose pins
    /// were checked.
    ///
    /// - Throws: ``TransportError/Code/tlsPinMismatch``.
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
            // Unverified, only the certificate that the peer has proved to own counts.
            collect(SSL_get0_peer_certificate(ssl))
        }
        if configuration.pins.contains(where: { keys.contains($0.sha256) }) { return }
        throw TransportError(
            .tlsPinMismatch,
            "no certificate of \(peerName) has a pinned public key; it was replaced, or somebody listens in")
    }
}
