import COpenSSL

/// The certificates by which a peer has shown who it is.
package struct TLSPeerChain: Hashable, Sendable {
    /// How many certificates are read; OpenSSL follows a hundred.
    static let limit = 20

    /// What the check came to.
    package enum Verdict: Hashable, Sendable {
        /// The chain leads to a trusted authority, whose certificate is the last.
        case trusted
        /// Nobody has looked: verification is off. The certificates are those that the peer has sent.
        case unchecked
        /// The certificate at this place is not accepted. The others are those that were found for it.
        case refused(at: Int)
    }

    /// The peer's own first, each signed by the next; the first twenty.
    package let certificates: [TLSCertificate]
    package let verdict: Verdict

    /// What is known of a chain; a part of it in a test.
    package init(_ certificates: [TLSCertificate], _ verdict: Verdict) {
        self.certificates = certificates
        self.verdict = verdict
    }

    /// Reads a stack of `X509`, which stays its owner's.
    init(stack: OpaquePointer?, _ verdict: Verdict) {
        let count = stack.map { min(Int(courier_x509_count($0)), Self.limit) } ?? 0
        let certificates = (0..<max(0, count)).compactMap { index in
            courier_x509_at(stack, Int32(index)).flatMap { TLSCertificate($0) }
        }
        self.init(certificates, verdict)
    }
}

extension TLSSession {
    /// Has OpenSSL show what it refuses. Of a handshake that fails it keeps no certificates.
    func watchVerification() {
        SSL_set_verify(ssl, SSL_get_verify_mode(ssl)) { isGood, check in
            guard isGood == 0, let check else { return isGood }
            let index = SSL_get_ex_data_X509_STORE_CTX_idx()
            // Called from inside of `advance()`, so the session that owns the connection is alive.
            if let ssl = X509_STORE_CTX_get_ex_data(check, index), let owner = courier_ssl_owner(OpaquePointer(ssl)) {
                Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue().refused(check)
            }
            return isGood
        }
    }

    /// Reads the chain while there is one; the first mistake is the one that ends the handshake.
    private func refused(_ check: OpaquePointer) {
        guard refusedChain == nil else { return }
        refusedChain = TLSPeerChain(
            stack: X509_STORE_CTX_get0_chain(check),
            .refused(at: max(0, Int(X509_STORE_CTX_get_error_depth(check)))))
    }

    /// Tells who wants to know, once the handshake is over.
    func tellPeerChain(isDone: Bool) {
        guard case .client(let configuration) = context.role, let seen = configuration.peerChainSeen else { return }
        let chain: TLSPeerChain?
        if !isDone {
            chain = refusedChain
        } else if configuration.trust == .insecureSkipsVerification {
            chain = TLSPeerChain(stack: SSL_get_peer_cert_chain(ssl), .unchecked)
        } else {
            chain = TLSPeerChain(stack: SSL_get0_verified_chain(ssl), .trusted)
        }
        if let chain, !chain.certificates.isEmpty { seen(chain) }
    }
}
