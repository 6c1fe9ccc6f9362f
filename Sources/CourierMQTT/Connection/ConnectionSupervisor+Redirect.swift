import CourierCore

/// Decides which redirects of a broker the client follows.
extension ConnectionSupervisor {
    /// The client's response if the broker ends an attempt or connection and names other servers (Server Reference).
    enum RedirectResponse: Equatable, Sendable {
        /// The broker named no server, or the attempt or connection ended for a reason other than a redirect.
        case none
        /// The client connects to this server. If `asksProvider` is true, the provider returns the credentials for this
        /// server. Otherwise, the client uses the current credentials.
        case follow(ServerReference, Redirect.Term, asksProvider: Bool)
        /// The client does not connect to a server that the broker named. The text contains the reason. If an option
        /// could allow the connection, the text names this option.
        case refused(String)
    }

    /// Returns a redirect to the first server in the broker's list that the client may connect to. If the list has no
    /// such server, returns the reason why the client may not connect to the first server.
    func redirectResponse(_ ending: ConnectionEnding, _ response: LossPolicy.Response) -> RedirectResponse {
        let term: Redirect.Term
        switch response {
        case .followOnce: term = .once
        case .followForGood: term = .forGood
        case .retry, .retryAtOnce, .switchVersion, .renewCredentials, .yield, .stop: return .none
        }
        guard let list = ending.serverReference, let grant else { return .none }
        let references = ServerReference.list(list)
        guard let first = references.first else { return .none }
        let source = endpointOptions(grant.options)
        guard source.scheme?.lowercased() != "unix" else {
            return .refused(
                "The server reference to \(first) is not followed, because the client connects to a Unix socket.")
        }
        var refusal: String?
        for reference in references {
            switch credentials(at: reference, source) {
            case .allowed(let asksProvider): return .follow(reference, term, asksProvider: asksProvider)
            case .refused(let sentence): refusal = refusal ?? sentence
            }
        }
        return refusal.map { .refused($0) } ?? .none
    }

    /// Returns `ending`. If the client may connect to none of the servers that the broker named, adds the reason to the
    /// error.
    func naming(refusedReferenceOf ending: ConnectionEnding) -> ConnectionEnding {
        guard case .refused(let sentence) = redirectResponse(ending, LossPolicy.row(for: ending.cause).response) else {
            return ending
        }
        var ending = ending
        ending.error = CourierError(
            ending.error.code, "\(ending.error.message.asSentence) \(sentence)", reasonCode: ending.error.reasonCode,
            cause: ending.error.cause)
        return ending
    }

    /// Whether the client may connect to a server that the broker named.
    private enum Permission {
        case allowed(asksProvider: Bool)
        case refused(String)
    }

    private func credentials(at reference: ServerReference, _ source: ConnectOptions) -> Permission {
        let policy = configuration.redirects
        let port = reference.port ?? source.port
        if let index = round?.list.index(host: reference.host, port: port), let round, let grant {
            let isDowngrade =
                configuration.scheme(of: source)?.isSecure == true
                && configuration.scheme(of: grant.options.at(round.list.endpoints[index]))?.isSecure != true
            guard isDowngrade else { return .allowed(asksProvider: false) }
            return .refused(
                "The server reference to \(reference) is not followed, because that endpoint does not use TLS.")
        }
        if isOwnHost(reference.host) {
            if policy.followsSameHost { return .allowed(asksProvider: false) }
            return .refused(
                "The server reference to \(reference) is not followed, "
                    + "because MQTTClientConfig.endpoints.redirects.followsSameHost is false.")
        }
        if let credentials = policy.credentials(for: reference.host) {
            return .allowed(asksProvider: credentials == .fromProvider)
        }
        return .refused(
            "The server reference to \(reference) is not followed, because another host would get the credentials. "
                + "If you trust that host, "
                + "add \(reference.host.quoted()) to MQTTClientConfig.endpoints.redirects.allowedHosts.")
    }

    /// True if the connect options or the list of endpoints contain this host, with any port.
    private func isOwnHost(_ host: String) -> Bool {
        let names = (round?.list.endpoints.map(\.host) ?? []) + (grant.map { [$0.options.host] } ?? [])
        return names.contains { name in
            ((try? BrokerHost(name).string) ?? name).lowercased() == host.lowercased()
        }
    }

    /// Stores the broker's redirect for the next attempt, if the redirect is allowed. Stores no redirect if
    /// `maximumRedirects` redirects were followed since the last pause. Returns true if the next attempt follows the
    /// redirect.
    mutating func follow(_ ending: ConnectionEnding, _ response: LossPolicy.Response) -> Bool {
        guard let grant, case .follow(let target, let term, let asksProvider) = redirectResponse(ending, response)
        else {
            return false
        }
        guard streak.redirects < configuration.maximumRedirects else {
            redirect = nil
            return false
        }
        streak.redirects += 1
        let source = endpointOptions(grant.options)
        let isSecure = configuration.scheme(of: source)?.isSecure == true
        let isOfList = round?.select(host: target.host, port: target.port ?? source.port) == true
        // If the redirect is valid once and names an endpoint of the list, store no redirect, because `select` has
        // already made this endpoint the current one. Store every permanent redirect, because the client follows it
        // each time the redirecting server is the current endpoint.
        redirect =
            isOfList && term == .once
            ? nil : Redirect(from: source, to: target, term: term, isSecure: isSecure, asksProvider: asksProvider)
        return true
    }
}

extension ServerReference: CustomStringConvertible {
    /// The host, followed by the port if there is one, in the form of the Server Reference property.
    var description: String {
        guard let port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ConnectionScheme {
    /// Whether the connection uses TLS.
    var isSecure: Bool {
        switch self {
        case .tls, .wss: true
        case .tcp, .ws, .unix: false
        }
    }
}
