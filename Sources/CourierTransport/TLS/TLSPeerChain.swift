import COpenSSL

/// The certificate chain of a peer and the result of its check.
package struct TLSPeerChain: Hashable, Sendable {
    /// The maximum number of certificates to read. It is limited, because OpenSSL accepts a chain of up to 100
    /// certificates.
    static let limit = 20

    /// The result of the check.
    package enum Verdict: Hashable, Sendable {
        /// The chain ends at a trusted authority. The last certificate of the chain belongs to this authority.
        case trusted
        /// The chain was not checked, because verification is off. The chain contains the certificates that the peer
        /// sent.
        case unchecked
        /// The certificate at this index was refused. The chain also contains the other certificates that OpenSSL
        /// found.
        case refused(at: Int)
    }

    /// The certificates of the chain, at most the first 20. The first certificate belongs to the peer itself. Each
    /// certificate is signed with the key of the next certificate.
    package let certificates: [TLSCertificate]
    package let verdict: Verdict

    /// Makes a chain from its certificates and the result of its check.
    package init(_ certificates: [TLSCertificate], _ verdict: Verdict) {
        self.certificates = certificates
        self.verdict = verdict
    }

    /// Reads a stack of OpenSSL's `X509`, which the caller still owns.
    init(stack: OpaquePointer?, _ verdict: Verdict) {
        let count = stack.map { min(Int(courier_x509_count($0)), Self.limit) } ?? 0
        let certificates = (0..<max(0, count)).compactMap { index in
            courier_x509_at(stack, Int32(index)).flatMap { TLSCertificate($0) }
        }
        self.init(certificates, verdict)
    }
}

extension TLSSession {
    /// Lets OpenSSL report a refused chain during the handshake, because OpenSSL keeps no certificate of the peer after
    /// a failed handshake.
    func watchVerification() {
        SSL_set_verify(ssl, SSL_get_verify_mode(ssl)) { isGood, check in
            guard isGood == 0, let check else { return isGood }
            let index = SSL_get_ex_data_X509_STORE_CTX_idx()
            // OpenSSL makes this call inside `advance()`, so the session that owns the connection still exists.
            if let ssl = X509_STORE_CTX_get_ex_data(check, index), let owner = courier_ssl_owner(OpaquePointer(ssl)) {
                Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue().refused(check)
            }
            return isGood
        }
    }

    /// Stores the refused chain during OpenSSL's check of it. Only the chain of the first error is stored, because this
    /// error ends the handshake.
    private func refused(_ check: OpaquePointer) {
        guard refusedChain == nil else { return }
        refusedChain = TLSPeerChain(
            stack: X509_STORE_CTX_get0_chain(check),
            .refused(at: max(0, Int(X509_STORE_CTX_get_error_depth(check)))))
    }

    /// Reports the peer's chain to `peerChainSeen` at the end of the handshake.
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
