import COpenSSL
import Synchronization

/// A loaded and checked TLS configuration, shared by any number of connections.
///
/// A client's context also keeps one TLS session per host, so that the next connection can resume it.
///
/// Safe to share: OpenSSL counts the references to a context atomically, and the context does not change after `init`.
/// A lock protects the stored sessions.
public final class TLSContext: @unchecked Sendable {
    enum Role { case client(TLSClientConfiguration), server }

    /// The maximum number of hosts with a stored session. If this limit is reached, a new session replaces the session
    /// of an arbitrary other host.
    static let sessionLimit = 256

    let role: Role
    let context: OpaquePointer
    let method: OpaquePointer
    /// The destination of the TLS secrets of connections. With `nil`, no secrets are written.
    let keyLog: TLSKeyLog?
    private let serverProtocols: ALPNList?
    private let sessions = Mutex<[String: StoredSession]>([:])

    /// Owns one reference to an OpenSSL session.
    ///
    /// Safe to share: OpenSSL counts references to a session atomically and does not change a stored session.
    final class StoredSession: @unchecked Sendable {
        let session: OpaquePointer
        init(takingOver session: OpaquePointer) { self.session = session }
        deinit { SSL_SESSION_free(session) }
    }

    /// Makes a context and loads the files of `configuration`. Because this call reads files, do not make it on an
    /// event loop.
    ///
    /// - Throws: ``TransportError`` that names the wrong file or setting and the problem.
    public init(client configuration: TLSClientConfiguration) throws(TransportError) {
        let configuration = try Self.settled(configuration)
        let keyLog = try configuration.keyLogFile.map { file throws(TransportError) in try TLSKeyLog(appendingTo: file)
        }
        (context, method) = try Self.make(TLS_client_method, configuration.minimumVersion)
        role = .client(configuration)
        serverProtocols = nil
        self.keyLog = keyLog
        try Self.limitCiphers(configuration, of: context)
        if let key = configuration.preSharedKey { try Self.offer(key, configuration, in: context) }
        if keyLog != nil { TLSKeyLog.observe(context) }
        try Self.load(configuration.trust, into: context)
        if let identity = configuration.identity { try identity.load(into: context) }
        let offered = try ALPNList(configuration.applicationProtocols)
        if !offered.bytes.isEmpty { SSL_CTX_set_alpn_protos(context, offered.bytes, UInt32(offered.bytes.count)) }
        if configuration.resumesSessions {
            courier_ssl_ctx_cache_outside(context)
            SSL_CTX_sess_set_new_cb(context) { ssl, session in
                guard let ssl, let session, let owner = courier_ssl_owner(ssl) else { return 0 }
                Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue().received(session)
                return 1  // 1 means that the callback keeps its reference to the session.
            }
        }
    }

    /// Makes a context and loads the files of `configuration`. Because this call reads files, do not make it on an
    /// event loop.
    ///
    /// - Throws: ``TransportError`` that names the wrong file or setting and the problem.
    public init(server configuration: TLSServerConfiguration) throws(TransportError) {
        let spoken = try ALPNList(configuration.applicationProtocols)
        (context, method) = try Self.make(TLS_server_method, configuration.minimumVersion)
        role = .server
        keyLog = nil
        serverProtocols = spoken
        try configuration.identity.load(into: context)
        // The name of the context. A TLS session can be resumed only in a context with the same name. If clients send
        // certificates, OpenSSL requires a name.
        _ = Array("courier".utf8).withUnsafeBufferPointer {
            SSL_CTX_set_session_id_context(context, $0.baseAddress, UInt32($0.count))
        }
        if let file = configuration.clientAuthoritiesFile {
            try Self.load(.authoritiesFile(file), into: context)
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            if let names = SSL_load_client_CA_file(file) { SSL_CTX_set_client_CA_list(context, names) }
        }
        if !spoken.bytes.isEmpty {
            // The callback may use the list that `serverProtocols` owns, because the list exists as long as the
            // context.
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, chosen, chosenCount, offered, offeredCount, argument in
                    guard let argument, let chosen, let chosenCount else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                    let list = Unmanaged<ALPNList>.fromOpaque(argument).takeUnretainedValue()
                    var selected: UnsafeMutablePointer<UInt8>?
                    let result = SSL_select_next_proto(
                        &selected, chosenCount, list.memory.baseAddress, UInt32(list.memory.count), offered,
                        offeredCount)
                    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                    chosen.pointee = UnsafePointer(selected)
                    return SSL_TLSEXT_ERR_OK
                }, Unmanaged.passUnretained(spoken).toOpaque())
        }
    }

    deinit {
        SSL_CTX_free(context)
        BIO_meth_free(method)
    }

    private static func settled(
        _ configuration: TLSClientConfiguration
    ) throws(TransportError) -> TLSClientConfiguration {
        do {
            return try configuration.settled()
        } catch {
            throw TransportError(.invalidConfiguration, "the source of certificates has failed: \(error)")
        }
    }

    private static let setUp: Void = courier_ssl_set_up()

    private static func make(
        _ protocols: () -> OpaquePointer?, _ minimum: TLSVersion
    ) throws(TransportError) -> (OpaquePointer, OpaquePointer) {
        setUp
        guard let context = SSL_CTX_new(protocols()) else {
            throw TransportError(.invalidConfiguration, "OpenSSL cannot be set up: \(TLSErrors.takeText())")
        }
        guard let method = courier_wire_method() else {
            SSL_CTX_free(context)
            throw TransportError(.invalidConfiguration, "OpenSSL cannot be set up: \(TLSErrors.takeText())")
        }
        courier_ssl_ctx_set_modes(context)
        _ = courier_ssl_ctx_set_minimum(context, minimum == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION)
        return (context, method)
    }

    private static func load(
        _ trust: TLSClientConfiguration.Trust, into context: OpaquePointer
    ) throws(TransportError) {
        ERR_clear_error()
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        switch trust {
        case .systemRoots: try SystemTrust.load(into: context)
        case .insecureSkipsVerification: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        case .authoritiesFile(let file):
            guard SSL_CTX_load_verify_file(context, file) == 1 else {
                throw TLSErrors.badFile(file, .badCertificateFile, "CA certificates")
            }
        case .authorities(let bytes):
            let what = "CA certificates"
            let store = SSL_CTX_get_cert_store(context)
            for certificate in try TLSReader(bytes, what, .badCertificateFile).certificates(what) {
                guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
                    throw TLSErrors.badFile("the bytes in memory", .badCertificateFile, what)
                }
            }
        case .authoritiesDirectory(let directory):
            guard SSL_CTX_load_verify_dir(context, directory) == 1 else {
                throw TLSErrors.badFile(directory, .badCertificateFile, "CA certificates")
            }
        }
    }

    /// If `toTLS12` is true, limits the context to TLS 1.2 from now on. Only tests call this function, before the first
    /// connection.
    func limitForTests(toTLS12: Bool) {
        _ = courier_ssl_ctx_set_maximum(context, toTLS12 ? TLS1_2_VERSION : 0)
    }

    /// Limits each sent TLS record to `recordSize` bytes, at least 512. Only tests call this function, before the first
    /// connection.
    func limitForTests(recordSize: Int) {
        _ = courier_ssl_ctx_set_record_size(context, recordSize)
    }

    // MARK: Connections

    /// Makes the TLS state of a new connection.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if a client has no server name that it can compare with
    ///   the certificate.
    func makeSession(hostName: String?, peerName: String) throws(TransportError) -> TLSSession {
        try TLSSession(context: self, hostName: hostName, peerName: peerName)
    }

    /// Removes and returns the session to resume with `host`. Each session is used only once (RFC 8446, appendix C.4).
    func takeSession(host: String) -> StoredSession? {
        sessions.withLock { $0.removeValue(forKey: host) }
    }

    /// Stores a session for the next connection to `host`. The new session replaces an earlier session.
    func keep(_ session: StoredSession, host: String) {
        sessions.withLock { sessions in
            if sessions[host] == nil, sessions.count >= Self.sessionLimit, let other = sessions.keys.first {
                sessions[other] = nil
            }
            sessions[host] = session
        }
    }
}
