import CourierCore

/// Which servers that a broker names are used.
extension ConnectionSupervisor {
    /// The response to the server reference of an ending.
    enum RedirectResponse: Equatable, Sendable {
        /// There is no reference, or the ending has another cause.
        case none
        /// The client connects to the server, with credentials from the provider or with the present ones.
        case follow(ServerReference, Redirect.Term, asksProvider: Bool)
        /// The client does not go there; the sentence says why, and names the option.
        case refused(String)
    }

    /// Decides by the first reference of the list that is allowed.
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
            return .refused("The reference to \(first) is not followed, because the client connects to a Unix socket.")
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

    /// The ending, with a sentence on the reference that is not followed.
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
            return .refused("The reference to \(reference) is not followed, because that endpoint is without TLS.")
        }
        if isOwnHost(reference.host) {
            if policy.followsSameHost { return .allowed(asksProvider: false) }
            return .refused(
                "The reference to \(reference) is not followed, because MQTTClientConfig.endpoints.redirects.followsSameHost is "
                    + "false.")
        }
        if let credentials = policy.credentials(for: reference.host) {
            return .allowed(asksProvider: credentials == .fromProvider)
        }
        return .refused(
            "The reference to \(reference) is not followed: it is another host, which would get the credentials. If it is "
                + "yours, add \(reference.host.quoted()) to MQTTClientConfig.endpoints.redirects.allowedHosts.")
    }

    /// Whether the options, or the service records of their host, name this host.
    private func isOwnHost(_ host: String) -> Bool {
        let names = (round?.list.endpoints.map(\.host) ?? []) + (grant.map { [$0.options.host] } ?? [])
        return names.contains { name in
            ((try? BrokerHost(name).string) ?? name).lowercased() == host.lowercased()
        }
    }
}

extension ServerReference: CustomStringConvertible {
    /// Host and port as a broker writes them.
    var description: String {
        guard let port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ConnectionScheme {
    /// Whether TLS is spoken.
    var isSecure: Bool {
        switch self {
        case .tls, .wss: true
        case .tcp, .ws, .unix: false
        }
    }
}
