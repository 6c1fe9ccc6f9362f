/// The trusted authorities and the client's own certificate, for settings that change over time. In the example below,
/// the app's function `latestFolder(in:)` returns the path of the newest folder.
///
/// ```swift
/// configuration.material = {
///     let folder = try latestFolder(in: "/var/lib/certificates")
///     return TLSMaterial(
///         trust: .authoritiesFile(folder + "/ca.pem"),
///         identity: TLSIdentity(certificateFile: folder + "/cert.pem", privateKeyFile: folder + "/key.pem"))
/// }
/// ```
public struct TLSMaterial: Sendable, Equatable {
    /// The trusted authorities.
    public var trust: TLSClientConfiguration.Trust

    /// The client's certificate and private key, for a peer that requires a client certificate.
    public var identity: TLSIdentity?

    /// Makes a value from trusted authorities and an identity.
    ///
    /// - Parameters:
    ///   - trust: The trusted authorities; the system's authorities by default.
    ///   - identity: The client's certificate and private key; none by default.
    public init(trust: TLSClientConfiguration.Trust = .systemRoots, identity: TLSIdentity? = nil) {
        self.trust = trust
        self.identity = identity
    }
}

extension TLSClientConfiguration {
    /// Returns this configuration, but with the trust and the identity that ``material`` returns. Without ``material``,
    /// it returns the configuration unchanged.
    ///
    /// - Throws: The error that the app's closure throws.
    package func settled() throws -> TLSClientConfiguration {
        guard let material else { return self }
        let given = try material()
        var settled = self
        settled.material = nil
        settled.trust = given.trust
        settled.identity = given.identity
        return settled
    }

    /// The paths of all files and directories from which a context of this configuration reads certificates and keys.
    package var files: [String] {
        var files: [String] = []
        switch trust {
        case .systemRoots, .authorities, .insecureSkipsVerification: break
        case .authoritiesFile(let file): files.append(file)
        case .authoritiesDirectory(let directory): files.append(directory)
        }
        return files + (identity?.files ?? [])
    }
}
