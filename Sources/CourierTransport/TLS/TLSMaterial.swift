/// Whom a TLS client trusts and who it is, where that changes over time.
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
    /// Whom to trust.
    public var trust: TLSClientConfiguration.Trust

    /// Our certificate, for a peer that wants one.
    public var identity: TLSIdentity?

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - trust: Whom to trust; the system's authorities by default.
    ///   - identity: Our certificate; none by default.
    public init(trust: TLSClientConfiguration.Trust = .systemRoots, identity: TLSIdentity? = nil) {
        self.trust = trust
        self.identity = identity
    }
}

extension TLSClientConfiguration {
    /// The same with what ``material`` gives, where it is set.
    ///
    /// - Throws: What the app's closure throws.
    package func settled() throws -> TLSClientConfiguration {
        guard let material else { return self }
        let given = try material()
        var settled = self
        settled.material = nil
        settled.trust = given.trust
        settled.identity = given.identity
        return settled
    }

    /// The files and folders that a context of this configuration is made from.
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
