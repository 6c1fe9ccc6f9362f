/// How a client speaks TLS: whom it trusts and who it is.
///
/// The default trusts the authorities of the operating system, checks the host name and speaks TLS 1.2 or later.
///
/// ```swift
/// var configuration = TLSClientConfiguration()
/// configuration.trust = .authoritiesFile("/etc/broker/ca.pem")
/// let context = try TLSContext(client: configuration)
/// ```
public struct TLSClientConfiguration: Sendable {
    /// Whom to believe that the peer is who it says.
    public enum Trust: Sendable, Equatable {
        /// The authorities that the operating system trusts.
        case systemRoots
        /// The certificates in a PEM file, and no others.
        case authoritiesFile(String)
        /// The certificates in memory, and no others: PEM with one or more, or one in DER.
        case authorities([UInt8])
        /// The certificates in a directory that `openssl rehash` has prepared, and no others.
        case authoritiesDirectory(String)
        /// DANGER: anyone. The connection can be read and changed by whoever stands on its way. For tests only.
        case insecureSkipsVerification
    }

    /// Whom to trust; the system's authorities by default.
    public var trust = Trust.systemRoots

    /// The name or address that the peer's certificate must be for, and that is sent to it (SNI, names only); by
    /// default the host that is connected to.
    ///
    /// A connection without a host, such as over a Unix socket, needs it, unless that is not checked.
    public var serverName: String?

    /// Whether the peer's certificate must be for ``serverName``, `true` by default. DANGER: if it is not checked, whoever has
    /// any certificate of a trusted authority can pass for the peer.
    public var checksServerName = true

    /// Whether the common name of a certificate without subject alternative names counts as its host name, `false` by
    /// default: such a certificate is refused with ``TransportError/Code/tlsHostNameMismatch`` (RFC 9525, section 2).
    ///
    /// DANGER: a common name need not be a host name, so an authority may not have checked it. Set this only for a peer whose
    /// certificate cannot be replaced soon by one with a subject alternative name. The common name never counts as an address,
    /// and never beside alternative names of hosts.
    public var acceptsCommonName = false

    /// Our certificate, for a peer that wants one.
    public var identity: TLSIdentity?

    /// A secret that we share with the peer, in place of certificates; `nil` by default. The cipher suites of TLS 1.2 with a
    /// pre-shared key are offered then, unless ``ciphers`` names others. A peer that shows a certificate all the same is checked
    /// by ``trust``.
    public var preSharedKey: TLSPreSharedKey?

    /// Asked for ``trust`` and ``identity``, in whose place its answer stands, before each connection of a client; `nil` by
    /// default. Called on a thread where it may block. What it throws fails the attempt, and the client asks again for the
    /// next one.
    ///
    /// It is not needed for files that are replaced under the same name: a client looks before each connection whether
    /// the files are still those that it has read, and reads them anew where they are not. In a folder of authorities it sees
    /// files that come, go or are renamed, and not those that are written over in place.
    public var material: (@Sendable () throws -> TLSMaterial)?

    /// The application protocols we offer (ALPN), the preferred first; none by default.
    public var applicationProtocols: [String] = []

    /// The lowest version to speak, 1.2 by default and at least.
    public var minimumVersion = TLSVersion.tls12

    /// The cipher suites of TLS 1.2 to offer, as a cipher list of OpenSSL such as `ECDHE+AESGCM`; `nil`, the default, offers
    /// OpenSSL's choice. `openssl ciphers -v LIST` prints what a list stands for.
    ///
    /// TLS 1.3 has suites of its own: see ``cipherSuites``. A list with suites that do not encrypt, or do not check who the
    /// peer is, is refused.
    public var ciphers: String?

    /// The cipher suites of TLS 1.3 to offer, such as `TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256`; `nil`, the
    /// default, offers OpenSSL's choice.
    public var cipherSuites: String?

    /// DANGER: the file to which the secrets of each connection are appended, in the key log format of NSS (`SSLKEYLOGFILE`).
    /// `nil`, the default, writes none. No environment variable switches it on.
    ///
    /// Whoever has the file can decrypt recorded connections, with passwords and messages, for example in Wireshark. Use it to
    /// look for a fault, then delete it. It is created for the owner alone (0600). A link, a file of another user, and a file
    /// that others may read are refused. A line that cannot be written is lost; the connection continues.
    public var keyLogFile: String?

    /// If not empty, one certificate of the peer's chain must have one of these public keys, in addition to all other
    /// checks.
    public var pins: [TLSPin] = []

    /// Whether a later connection to the same host may resume the session of an earlier one, which saves a round of
    /// the handshake's work; `true` by default.
    public var resumesSessions = true

    /// Called on the loop, at the end of a handshake in which the peer has shown its certificates, also when they were
    /// not accepted; `nil` by default. A handshake that resumes a session may show none.
    package var peerChainSeen: (@Sendable (TLSPeerChain) -> Void)?

    /// The default configuration.
    public init() {}
}

/// How a server speaks TLS.
public struct TLSServerConfiguration: Sendable {
    /// Our certificate and key.
    public var identity: TLSIdentity

    /// If set, clients must have a certificate signed by one in this PEM file.
    public var clientAuthoritiesFile: String?

    /// The application protocols we speak (ALPN), the preferred first. A client that offers only others is refused; one
    /// that offers none is not.
    public var applicationProtocols: [String] = []

    /// The lowest version to speak, 1.2 by default and at least.
    public var minimumVersion = TLSVersion.tls12

    /// A server that shows `identity`.
    public init(identity: TLSIdentity) { self.identity = identity }
}

/// A version of TLS.
public enum TLSVersion: Int, Sendable, Comparable {
    /// TLS 1.2.
    case tls12 = 12
    /// TLS 1.3.
    case tls13 = 13

    /// The older version is less.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The SHA-256 digest of a certificate's public key (its SubjectPublicKeyInfo, DER).
///
/// `openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256` prints it.
public struct TLSPin: Hashable, Sendable {
    /// The 32 bytes.
    public let sha256: [UInt8]

    /// A pin of 32 bytes.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for another count.
    public init(sha256: [UInt8]) throws(TransportError) {
        guard sha256.count == 32 else {
            throw TransportError(.invalidConfiguration, "a pin is 32 bytes of SHA-256, not \(sha256.count)")
        }
        self.sha256 = sha256
    }

    /// A pin of 64 hexadecimal digits.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for anything else.
    public init(hex: String) throws(TransportError) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count == 64 else {
            throw TransportError(.invalidConfiguration, "a pin is 64 hexadecimal digits of SHA-256")
        }
        try self.init(sha256: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

/// What the two sides of a TLS connection have agreed on.
public struct TLSSummary: Hashable, Sendable {
    /// The version, such as `TLSv1.3`.
    public let version: String
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    public let cipherSuite: String
    /// The application protocol (ALPN), if they agreed on one.
    public let applicationProtocol: String?
    /// Whether the session of an earlier connection was resumed.
    public let isResumed: Bool
    /// The name that the client asked for (SNI), if it did.
    public let serverName: String?
}
