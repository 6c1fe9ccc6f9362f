import COpenSSL

/// The TLS state of one connection. It encrypts and decrypts bytes, and does not use sockets.
///
/// The caller lends input with ``borrowInput(_:)`` before it calls ``advance()`` or ``read(into:)``. ``output`` holds
/// the encrypted bytes to send. The object is used only on the channel's event loop. OpenSSL's callbacks hold an
/// unretained pointer to this object. The callbacks run only during a call of this object's methods, so the object
/// still exists.
final class TLSSession {
    enum Step { case needsInput, done }

    enum Read { case bytes(Int), needsInput, ended }

    let context: TLSContext
    let ssl: OpaquePointer
    /// The buffers for encrypted input and output. They have a fixed address, because OpenSSL keeps a pointer to them.
    private let wire: UnsafeMutablePointer<courier_wire>
    let peerName: String
    /// The host name or address that the peer's certificate must contain.
    private let expectedName: String?
    /// The key under which the context keeps this connection's TLS session; `nil` if it keeps none.
    private var cacheKey: String?
    /// A TLS session that the peer issued before the handshake was complete. It is kept only if the handshake succeeds.
    private var earlySession: TLSContext.StoredSession?
    private(set) var summary: TLSSummary?
    private(set) var hasPeerClosed = false
    /// True if ``write(_:)`` encrypted nothing, because TLS must first read the rest of a message. After the next
    /// ``read(into:)``, call ``write(_:)`` again.
    private(set) var isWriteHeldUp = false
    private var hasSentFarewell = false
    private var hasFailed = false
    /// The certificate chain that the check refused, for `peerChainSeen`; `nil` if none was refused.
    var refusedChain: TLSPeerChain?

    init(context: TLSContext, hostName: String?, peerName: String) throws(TransportError) {
        guard let ssl = SSL_new(context.context) else {
            throw TransportError(.tlsHandshakeFailed, "OpenSSL cannot begin a session: \(TLSErrors.takeText())")
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
            throw TransportError(.tlsHandshakeFailed, "OpenSSL cannot begin a session: \(TLSErrors.takeText())")
        }
        courier_ssl_set_owner(ssl, Unmanaged.passUnretained(self).toOpaque())
        switch context.role {
        case .server: SSL_set_accept_state(ssl)
        case .client(let configuration): try prepareClient(configuration)
        }
    }

    deinit {
        // If a connection is freed without close alerts, OpenSSL makes its session unusable for resumption. If TLS has
        // not failed, the session shall stay usable, so the alerts are marked as sent and received.
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
                "TLS with \(peerName) needs a server name for the check of the certificate; set serverName")
        }
        let checks = SSL_get0_param(ssl)
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(checks, name) == 1
        if !isAddress {
            ERR_clear_error()
            var flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
            if !configuration.acceptsCommonName { flags |= X509_CHECK_FLAG_NEVER_CHECK_SUBJECT }
            X509_VERIFY_PARAM_set_hostflags(checks, UInt32(flags))
            // The final dot is removed: a host name may end with a dot in DNS, but a name in a certificate never does.
            let plain = name.last == "." ? String(name.dropLast()) : name
            guard !configuration.checksServerName || X509_VERIFY_PARAM_set1_host(checks, plain, 0) == 1,
                courier_ssl_set_server_name(ssl, plain) == 1
            else {
                throw TransportError(
                    .invalidConfiguration, "“\(name)” cannot be a server name: \(TLSErrors.takeText())")
            }
        }
        if isAddress, !configuration.checksServerName { X509_VERIFY_PARAM_set1_ip(checks, nil, 0) }
        guard configuration.resumesSessions else { return }
        let key = "\(name) \(peerName)"
        cacheKey = key
        if let stored = context.takeSession(host: key) { SSL_set_session(ssl, stored.session) }
    }

    /// Takes over the reference to a session that the peer issued. In TLS 1.2, the peer issues it during the handshake.
    func received(_ session: OpaquePointer) {
        let stored = TLSContext.StoredSession(takingOver: session)
        if summary == nil { earlySession = stored } else { keep(stored) }
    }

    private func keep(_ session: TLSContext.StoredSession) {
        if let cacheKey { context.keep(session, host: cacheKey) }
    }

    // MARK: Input and output

    /// True if more bytes can be read without the stream, from lent input or from the rest of a decrypted record.
    var hasInput: Bool { hasLentInput || SSL_pending(ssl) > 0 }

    private var hasLentInput: Bool { wire.pointee.input_count > 0 }

    /// Lends received encrypted bytes to TLS. Earlier input must be used up. The memory must stay valid until
    /// ``keepInput()``.
    func borrowInput(_ bytes: UnsafeRawBufferPointer) {
        precondition(!hasLentInput, "the TLS session has unread input")
        courier_wire_borrow(wire, bytes.baseAddress, bytes.count)
    }

    /// Copies the rest of the lent input, so that the caller can use the lent memory again.
    func keepInput() { precondition(courier_wire_keep(wire) == 1, "out of memory") }

    var outputCount: Int { wire.pointee.output_end - wire.pointee.output_start }

    var hasOutput: Bool { outputCount > 0 }

    /// True if something must be written after a read: a response of TLS itself, or a write that was delayed.
    var wantsFlush: Bool { hasOutput || isWriteHeldUp }

    /// The encrypted bytes to send. The pointer is valid until the next call.
    var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: wire.pointee.output.map { $0 + wire.pointee.output_start }, count: outputCount)
    }

    func removeOutput(_ count: Int) {
        precondition(count >= 0 && count <= outputCount, "more bytes were sent than the TLS output buffer contains")
        courier_wire_remove_output(wire, count, ByteQueue.keptCapacity)
    }

    /// Limits how many encrypted bytes may wait to be sent; no limit by default. Without a limit, a peer that does not
    /// read could fill the memory with answers of TLS itself.
    func limitOutput(to count: Int) { wire.pointee.output_limit = count }

    /// Checks the limit of waiting encrypted bytes.
    ///
    /// - Throws: ``TransportError/Code/answersUnread`` if more bytes had to wait than ``limitOutput(to:)`` allows.
    private func checkOutput() throws(TransportError) {
        guard wire.pointee.output_exceeded != 0 else { return }
        hasFailed = true
        ERR_clear_error()
        throw TransportError(
            .answersUnread,
            "\(peerName) sends TLS requests, such as key updates, but does not read the responses; "
                + "the connection is dropped, because \(outputCount) bytes wait for the peer")
    }

    // MARK: Handshake

    /// Continues the handshake with the available input. After this call, ``output`` may hold bytes to send, even if
    /// the call has thrown an error.
    func advance() throws(TransportError) -> Step {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        try checkOutput()
        if result == 1 {
            try checkPins()
            summary = makeSummary()
            tellPeerChain(isDone: true)
            if let session = earlySession.take() { keep(session) }
            // In TLS 1.3, the peer issues a new TLS session for each connection. In earlier versions, a resumed session
            // can be used again, so it is stored again.
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
        // For a wrong signature, the verification error is the last error in OpenSSL's queue, because the cryptographic
        // functions add their errors before it.
        let last = ERR_peek_last_error()
        let code = TLSErrors.take()
        let result = SSL_get_verify_result(ssl)
        if result != X509_V_OK, TLSErrors.isOfVerification(code) || TLSErrors.isOfVerification(last) {
            // If the check failed because of a lack of descriptors or memory, the error reports this lack instead of a
            // wrong certificate.
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
            "\(failure.message); "
                + "the peer may not know the identity \(key.identity.debugDescription) of the pre-shared key, "
                + "or may have another key for this identity", errno: failure.errno)
    }

    /// True if the peer's certificate has subject alternative names. Also true if OpenSSL holds no certificate of the
    /// peer.
    private var hasAlternativeNames: Bool {
        // If the certificate was refused, OpenSSL no longer returns it, but still returns its chain. So it is read from
        // the chain.
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

    /// Decrypts bytes into `space`, which must not be empty.
    func read(into space: UnsafeMutableRawBufferPointer) throws(TransportError) -> Read {
        if hasPeerClosed { return .ended }
        ERR_clear_error()
        let result = SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
        // `SSL_read` may succeed although the responses of TLS itself exceeded the output limit. So the limit is
        // checked after each call.
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

    /// Encrypts the first part of `bytes` into ``output``, and returns the size of that part. `bytes` must not be
    /// empty.
    ///
    /// The result is 0 if only a part of a message to TLS itself has arrived, such as the first of two records of a
    /// session ticket. The caller must then read the rest of that message before it calls this function again.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        ERR_clear_error()
        let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        try checkOutput()
        isWriteHeldUp = result <= 0
        if result > 0 { return Int(result) }
        guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else { throw failure() }
        return 0
    }

    /// Adds TLS's closing alert to ``output``, only once. Returns whether there are bytes to send.
    func beginFarewell() -> Bool {
        guard summary != nil, !hasSentFarewell else { return false }
        hasSentFarewell = true
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
        return hasOutput
    }
}
