import COpenSSL

/// The TLS state of one connection: turns encrypted bytes into plain ones and back, and knows no sockets.
///
/// Input is lent by ``borrowInput(_:)`` before ``advance()`` or ``read(into:)``, output piles up in ``output``.
/// Touched on the channel's loop only. A reference is given to OpenSSL's session callback, which is called from inside
/// the functions here, so during the life of the object.
final class TLSSession {
    enum Step { case needsInput, done }

    enum Read { case bytes(Int), needsInput, ended }

    let context: TLSContext
    let ssl: OpaquePointer
    /// Behind a pointer of its own, since OpenSSL keeps it.
    private let wire: UnsafeMutablePointer<courier_wire>
    let peerName: String
    /// What the certificate must be for.
    private let expectedName: String?
    /// Under which name sessions are kept; `nil` where none are.
    private var cacheKey: String?
    /// A session that the peer has issued before it was known to be the right one.
    private var earlySession: TLSContext.StoredSession?
    private(set) var summary: TLSSummary?
    private(set) var hasPeerClosed = false
    /// Whether ``write(_:)`` took nothing and is to be called again after the next ``read(into:)``.
    private(set) var isWriteHeldUp = false
    private var hasSentFarewell = false
    private var hasFailed = false
    /// What the check of the peer's certificates has refused, for somebody who wants to see them.
    var refusedChain: TLSPeerChain?

    init(context: TLSContext, hostName: String?, peerName: String) throws(TransportError) {
        guard let ssl = SSL_new(context.context) else {
            throw TransportError(.tlsHandshakeFailed, "OpenSSL can not begin: \(TLSErrors.takeText())")
        }
        self.context = context
        self.ssl = ssl
        self.peerName = peerName
        wire = .allocate(capacity: 1)
        wire.initialize(to: courier_wire())
        switch context.role {
        case .server: expectedName = nil
        case .client(let configuration): expectedName = configuration.serverName ?? hostName
        }
        guard courier_wire_attach(ssl, context.method, wire) == 1 else {
            throw TransportError(.tlsHandshakeFailed, "OpenSSL can not begin: \(TLSErrors.takeText())")
        }
        courier_ssl_set_owner(ssl, Unmanaged.passUnretained(self).toOpaque())
        switch context.role {
        case .server: SSL_set_accept_state(ssl)
        case .client(let configuration): try prepareClient(configuration)
        }
    }

    deinit {
        // Freed without farewells, a connection spoils its session for resumption; only a failure of TLS is to do that.
        if summary != nil, !hasFailed { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        courier_wire_free(wire)
        wire.deallocate()
    }

    private func prepareClient(_ configuration: TLSClientConfiguration) throws(TransportError) {
        SSL_set_connect_state(ssl)
        if configuration.identity == nil { courier_ssl_note_request(ssl, wire) }
        if configuration.peerChainSeen != nil { watchVerification() }
        guard let name = expectedName, !name.isEmpty, !name.utf8.contains(0) else {
            if !configuration.checksServerName || configuration.trust == .insecureSkipsVerification { return }
            throw TransportError(
                .invalidConfiguration,
                "TLS with \(peerName) needs a server name to check the certificate against; set serverName")
        }
        let checks = SSL_get0_param(ssl)
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(checks, name) == 1
        if !isAddress {
            ERR_clear_error()
            var flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
            if !configuration.acceptsCommonName { flags |= X509_CHECK_FLAG_NEVER_CHECK_SUBJECT }
            X509_VERIFY_PARAM_set_hostflags(checks, UInt32(flags))
            // A trailing dot is of the name system, not of the name in a certificate.
            let plain = name.last == "." ? String(name.dropLast()) : name
            guard !configuration.checksServerName || X509_VERIFY_PARAM_set1_host(checks, plain, 0) == 1,
                courier_ssl_set_server_name(ssl, plain) == 1
            else {
                throw TransportError(
                    .invalidConfiguration, "“\(name)” can not be a server name: \(TLSErrors.takeText())")
            }
        }
        if isAddress, !configuration.checksServerName { X509_VERIFY_PARAM_set1_ip(checks, nil, 0) }
        guard configuration.resumesSessions else { return }
        let key = "\(name) \(peerName)"
        cacheKey = key
        if let stored = context.takeSession(host: key) { SSL_set_session(ssl, stored.session) }
    }

    /// The peer has issued a session, whose reference we get. With TLS 1.2 that is in the middle of the handshake.
    func received(_ session: OpaquePointer) {
        let stored = TLSContext.StoredSession(takingOver: session)
        if summary == nil { earlySession = stored } else { keep(stored) }
    }

    private func keep(_ session: TLSContext.StoredSession) {
        if let cacheKey { context.keep(session, host: cacheKey) }
    }

    // MARK: Input and output

    /// Whether something can be read without the stream: lent input, or the rest of a record that did not fit.
    var hasInput: Bool { hasLentInput || SSL_pending(ssl) > 0 }

    private var hasLentInput: Bool { wire.pointee.input_count > 0 }

    /// Lends encrypted bytes that have come; none may be left. They stay where they are until ``keepInput()``.
    func borrowInput(_ bytes: UnsafeRawBufferPointer) {
        precondition(!hasLentInput, "input is still waiting")
        courier_wire_borrow(wire, bytes.baseAddress, bytes.count)
    }

    /// Copies what is left of lent input, whose memory will be used otherwise.
    func keepInput() { precondition(courier_wire_keep(wire) == 1, "out of memory") }

    var outputCount: Int { wire.pointee.output_end - wire.pointee.output_start }

    var hasOutput: Bool { outputCount > 0 }

    /// Whether there is something to write after a read: what TLS answers by itself, or what was held up.
    var wantsFlush: Bool { hasOutput || isWriteHeldUp }

    /// Encrypted bytes to be sent, valid until the next call.
    var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: wire.pointee.output.map { $0 + wire.pointee.output_start }, count: outputCount)
    }

    func removeOutput(_ count: Int) {
        precondition(count >= 0 && count <= outputCount, "more bytes were sent than there were")
        courier_wire_remove_output(wire, count, ByteQueue.keptCapacity)
    }

    /// Limits how many encrypted bytes may wait to be sent, so that a peer that reads nothing cannot make the answers of TLS
    /// itself fill the memory. No limit by default.
    func limitOutput(to count: Int) { wire.pointee.output_limit = count }

    /// - Throws: ``TransportError/Code/answersUnread`` if more bytes had to wait than ``limitOutput(to:)`` allows.
    private func checkOutput() throws(TransportError) {
        guard wire.pointee.output_exceeded != 0 else { return }
        hasFailed = true
        ERR_clear_error()
        throw TransportError(
            .answersUnread,
            "\(peerName) sends requests of TLS, such as for new keys, and does not read: \(outputCount) bytes wait for it; "
                + "the connection is dropped")
    }

    // MARK: Handshake

    /// Continues with the handshake as far as the input reaches. Afterwards there may be output, also when it fails.
    func advance() throws(TransportError) -> Step {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        try checkOutput()
        if result == 1 {
            try checkPins()
            summary = makeSummary()
            tellPeerChain(isDone: true)
            if let session = earlySession.take() { keep(session) }
            // TLS 1.3 issues a new session each time; an older one serves again.
            if SSL_session_reused(ssl) == 1, SSL_version(ssl) < TLS1_3_VERSION, let session = SSL_get1_session(ssl) {
                received(session)
            }
            return .done
        }
        guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else {
            let failure = failure()
            tellPeerChain(isDone: false)
            throw failure
        }
        return .needsInput
    }

    private func failure() -> TransportError {
        hasFailed = true
        // Of a wrong signature, this is the last error: the arithmetic has complained before.
        let last = ERR_peek_last_error()
        let code = TLSErrors.take()
        let result = SSL_get_verify_result(ssl)
        if result != X509_V_OK, TLSErrors.isOfVerification(code) || TLSErrors.isOfVerification(last) {
            // A directory of authorities that could not be looked into says nothing of the certificate.
            return TLSErrors.shortage(code, "the certificate of \(peerName) could not be checked")
                ?? TLSErrors.verification(
                    result, peerName: peerName, expected: expectedName, hasAlternativeNames: hasAlternativeNames)
        }
        let failure = TLSErrors.failure(
            code, peerName: peerName, isEstablished: summary != nil,
            lacksClientCertificate: wire.pointee.certificate_requested != 0)
        guard summary == nil, case .client(let configuration) = context.role, let key = configuration.preSharedKey
        else {
            return failure
        }
        return TransportError(
            failure.code,
            "\(failure.message); the peer may not know the identity \(key.identity.debugDescription) of the pre-shared key, or "
                + "has another key for it", errno: failure.errno)
    }

    /// Whether the peer's certificate has subject alternative names; `true` without a certificate.
    private var hasAlternativeNames: Bool {
        // OpenSSL keeps the chain of a certificate that it has refused, and forgets the certificate itself.
        guard let chain = SSL_get0_verified_chain(ssl), courier_x509_count(chain) > 0,
            let certificate = courier_x509_at(chain, 0)
        else { return true }
        guard let names = courier_x509_names(certificate) else { return false }
        defer { GENERAL_NAMES_free(names) }
        return courier_names_count(names) > 0
    }

    private func makeSummary() -> TLSSummary {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        let alpn = name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
        let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))
        let serverName = SSL_get_servername(ssl, Int32(TLSEXT_NAMETYPE_host_name))
        return TLSSummary(
            version: String(cString: SSL_get_version(ssl)), cipherSuite: cipher.map { String(cString: $0) } ?? "",
            applicationProtocol: alpn, isResumed: SSL_session_reused(ssl) == 1,
            serverName: serverName.map { String(cString: $0) })
    }

    // MARK: Bytes

    /// Decrypts into `space`, which is not empty.
    func read(into space: UnsafeMutableRawBufferPointer) throws(TransportError) -> Read {
        if hasPeerClosed { return .ended }
        ERR_clear_error()
        let result = SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
        // OpenSSL may continue when an answer could not be written.
        try checkOutput()
        if result > 0 { return .bytes(Int(result)) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN:
            hasPeerClosed = true
            return .ended
        default: throw failure()
        }
    }

    /// Encrypts some of `bytes`, which are not empty, into ``output``; the count.
    ///
    /// It is 0 while the peer is in the middle of a message to TLS itself, such as a session ticket in two records: the
    /// rest has to be read first.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        ERR_clear_error()
        let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        try checkOutput()
        isWriteHeldUp = result <= 0
        if result > 0 { return Int(result) }
        guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else { throw failure() }
        return 0
    }

    /// Says farewell to the peer, once; whether there is something to send for it now.
    func beginFarewell() -> Bool {
        guard summary != nil, !hasSentFarewell else { return false }
        hasSentFarewell = true
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
        return hasOutput
    }
}
