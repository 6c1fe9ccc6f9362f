/// The TLS settings of a client, such as its trusted authorities and its own certificate.
///
/// The default trusts the authorities of the operating system, checks the host name, and uses TLS 1.2 or later.
///
/// ```swift
/// var configuration = TLSClientConfiguration()
/// configuration.trust = .authoritiesFile("/etc/broker/ca.pem")
/// let context = try TLSContext(client: configuration)
/// ```
public struct TLSClientConfiguration: Sendable {
    /// The authorities that are trusted to sign the peer's certificate.
    public enum Trust: Sendable, Equatable {
        /// The authorities that the operating system trusts.
        case systemRoots
        /// Only the authorities in the PEM file at this path.
        case authoritiesFile(String)
        /// Only the authorities in these bytes: one or more certificates in PEM, or one certificate in DER.
        case authorities([UInt8])
        /// Only the authorities in the directory at this path. Prepare it with `openssl rehash`.
        case authoritiesDirectory(String)
        /// DANGER: accepts every certificate. An attacker in the network can read and change the connection. For tests
        /// only.
        case insecureSkipsVerification
    }

    /// The trusted authorities; the system's authorities by default.
    public var trust = Trust.systemRoots

    /// The host name or address that the peer's certificate must contain; by default the host of the endpoint. If it is
    /// a name, the client also sends it to the peer (SNI).
    ///
    /// If ``checksServerName`` is `true`, set this name for a connection without a host, such as over a Unix socket.
    public var serverName: String?

    /// True if the peer's certificate must contain ``serverName``; `true` by default.
    ///
    /// DANGER: with `false`, an attacker with any certificate of a trusted authority can act as the peer.
    public var checksServerName = true

    /// True if a certificate without subject alternative names may contain its host name as the common name. With
    /// `false`, the default, such a certificate is refused with ``TransportError/Code/tlsHostNameMismatch`` (RFC 9525,
    /// section 2).
    ///
    /// DANGER: a common name does not have to be a host name, so an authority may not have checked it. Set this only if
    /// the peer's certificate cannot soon be replaced by a certificate with a subject alternative name. A common name
    /// never counts as an address. If the certificate has alternative names of hosts, the common name is ignored.
    public var acceptsCommonName = false

    /// The client's certificate and private key, for a peer that requires a client certificate; `nil` by default.
    public var identity: TLSIdentity?

    /// A secret key that is shared with the peer and replaces certificates; `nil` by default.
    ///
    /// With a key, the client offers the cipher suites of TLS 1.2 with a pre-shared key, unless ``ciphers`` names other
    /// suites. If the peer sends a certificate instead, it is checked against ``trust``.
    public var preSharedKey: TLSPreSharedKey?

    /// Returns the current ``trust`` and ``identity``, which replace the values in this configuration; `nil` by
    /// default. It is called before each connection of a client.
    ///
    /// The closure runs on a thread where it may block. If the closure throws an error, the attempt fails, and the next
    /// attempt calls the closure again.
    ///
    /// Files that are replaced under the same name do not need this closure: before each connection, the client checks
    /// its files and reads changed files again. In a directory of authorities, the client detects added, removed and
    /// renamed files. It does not detect a file that is overwritten in place. A changed certificate does not affect
    /// open connections. If no file descriptor or memory is left to read the files, the attempt fails with
    /// `connectionFailed`, and the client tries again.
    public var material: (@Sendable () throws -> TLSMaterial)?

    /// The application protocols that the client offers (ALPN), the preferred protocol first; none by default.
    public var applicationProtocols: [String] = []

    /// The lowest TLS version to use; TLS 1.2 by default.
    public var minimumVersion = TLSVersion.tls12

    /// The TLS 1.2 cipher suites to offer, as an OpenSSL cipher list such as `ECDHE+AESGCM`. With `nil`, the default,
    /// OpenSSL's default suites are offered. `openssl ciphers -v LIST` prints the suites of a list.
    ///
    /// ``cipherSuites`` selects the suites of TLS 1.3. A cipher list is refused if it contains a suite without
    /// encryption or without authentication of the peer.
    public var ciphers: String?

    /// The TLS 1.3 cipher suites to offer, such as `TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256`. With `nil`,
    /// the default, OpenSSL's default suites are offered.
    public var cipherSuites: String?

    /// DANGER: the path of a file to which the secrets of each connection are appended, in the NSS key log format
    /// (`SSLKEYLOGFILE`). With `nil`, the default, no secrets are written. No environment variable can set this path.
    ///
    /// Anyone with the file can decrypt recorded connections, including passwords and messages, for example in
    /// Wireshark. Use it only to find a fault, then delete the file. The file is created with access for its owner only
    /// (0600). A link, a file of another user, and a file that other users may access are refused. If a line cannot be
    /// written, it is lost and the connection continues.
    public var keyLogFile: String?

    /// The pinned public keys. If the list is not empty, at least one certificate of the peer's chain must have a key
    /// from the list. This check is done in addition to all other checks.
    public var pins: [TLSPin] = []

    /// True if a connection may resume the TLS session of an earlier connection to the same host; `true` by default.
    /// This saves work, because a resumed handshake needs less computation.
    public var resumesSessions = true

    /// Receives the peer's certificates at the end of a handshake, even if they were refused; `nil` by default. The
    /// closure is called on the event loop. It is not called if a resumed session has no certificates.
    package var peerChainSeen: (@Sendable (TLSPeerChain) -> Void)?

    /// Makes the default configuration.
    public init() {}
}

/// The TLS settings of a server.
public struct TLSServerConfiguration: Sendable {
    /// The server's certificate and private key.
    public var identity: TLSIdentity

    /// The path of a PEM file with authorities. If set, a client must send a certificate that one of these authorities
    /// signed.
    public var clientAuthoritiesFile: String?

    /// The application protocols that the server accepts (ALPN), the preferred protocol first. If a client offers only
    /// other protocols, it is refused. If a client offers no protocols, it is accepted. If this list is empty, as by
    /// default, the server ignores ALPN.
    public var applicationProtocols: [String] = []

    /// The lowest TLS version to use; TLS 1.2 by default.
    public var minimumVersion = TLSVersion.tls12

    /// Makes a configuration with the server's certificate and private key.
    public init(identity: TLSIdentity) { self.identity = identity }
}

/// A version of TLS.
public enum TLSVersion: Int, Sendable, Comparable {
    /// TLS 1.2.
    case tls12 = 12
    /// TLS 1.3.
    case tls13 = 13

    /// Returns true if the left version is older than the right version.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The SHA-256 digest of a certificate's public key (its SubjectPublicKeyInfo, DER).
///
/// This command prints the digest:
/// `openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256`
public struct TLSPin: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let sha256: [UInt8]

    /// Makes a pin from the 32 bytes of a digest.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if there are not exactly 32 bytes.
    public init(sha256: [UInt8]) throws(TransportError) {
        guard sha256.count == 32 else {
            throw TransportError(.invalidConfiguration, "a pin is 32 bytes of SHA-256, not \(sha256.count)")
        }
        self.sha256 = sha256
    }

    /// Makes a pin from the 64 hexadecimal digits of a digest.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the text is not 64 hexadecimal digits.
    public init(hex: String) throws(TransportError) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count == 64 else {
            throw TransportError(.invalidConfiguration, "a pin is 64 hexadecimal digits of SHA-256")
        }
        try self.init(sha256: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

/// The negotiated properties of a TLS connection.
public struct TLSSummary: Hashable, Sendable {
    /// The TLS version, such as `TLSv1.3`.
    public let version: String
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    public let cipherSuite: String
    /// The negotiated application protocol (ALPN); `nil` if no protocol was negotiated.
    public let applicationProtocol: String?
    /// True if this connection resumed the TLS session of an earlier connection.
    public let isResumed: Bool
    /// The server name that the client sent (SNI); `nil` if it sent none.
    public let serverName: String?
}
