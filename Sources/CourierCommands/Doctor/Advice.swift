import CourierCore
import CourierTransport
import MQTTCodec

/// Advice for the user about the problems that the doctor finds.
enum Advice {
    /// The kind of connection to the broker.
    enum Way {
        case tcp(port: UInt16), socket, proxy
    }

    /// Returns advice for an address that cannot be connected to.
    static func unreachable(_ code: TransportError.Code, by way: Way) -> String {
        switch (code, way) {
        case (.connectionRefused, .tcp(let port)):
            "The machine is reachable, but nothing listens at port \(port): start the broker, or correct the port (-p)."
        case (.connectionRefused, .socket):
            "Nothing listens at the socket; a broker that ended has left it behind. Start the broker, or correct the path."
        case (.connectionRefused, .proxy):
            "The proxy's machine is reachable, but nothing listens at its port: start the proxy, or correct --proxy."
        case (.connectTimedOut, .tcp(let port)):
            "Nothing answers: a firewall may drop packets to port \(port), or the machine is off. Ask its administrator."
        case (.connectTimedOut, .proxy):
            "The proxy does not answer, or cannot reach the broker: ask the proxy's administrator, or try without --proxy."
        case (.hostNotFound, .proxy), (.nameResolutionFailed, .proxy):
            "Correct the name of the proxy (--proxy), or of the broker (-h)."
        case (.unreachable, _): "That network cannot be reached: check this machine's network or VPN."
        case (.socketNotFound, _): "Correct the path, or start the broker."
        case (.permissionDenied, .socket):
            "The operating system does not allow it: check the permissions of the socket."
        case (.permissionDenied, _): "The operating system does not allow it: check this machine's firewall."
        case (.proxyFailed, _), (.proxyRefused, _):
            "The proxy refuses the connection: ask the proxy's administrator, or try without --proxy."
        case (.proxyAuthenticationFailed, _):
            "Give the proxy's user name and password: --proxy scheme://user:password@host."
        case (_, .socket): "Look at the log of the program that listens at the socket."
        case (_, .proxy): "Look at the network between this machine and the proxy."
        case (_, .tcp): "Look at the network between this machine and the broker."
        }
    }

    /// Returns advice for a failed TLS handshake or a wrong TLS configuration.
    static func insecure(_ code: TransportError.Code, host: String) -> String {
        switch code {
        case .tlsCertificateExpired: "The broker's certificate must be renewed by the broker's administrator."
        case .tlsCertificateNotYetValid:
            "Correct this machine's clock. If the clock is right, ask the broker's administrator."
        case .tlsHostNameMismatch:
            "Connect with a name of the certificate, or get a certificate for \(host)."
        case .tlsUnknownAuthority:
            "If the broker has an authority of its own, give its certificate by --cafile. If it has a public one, it may "
                + "send its certificate without those that lead to the authority: the broker's administrator must add them."
        case .tlsCertificateRejected, .tlsPinMismatch: "Ask the broker's administrator for its certificate's authority."
        case .tlsProtocolVersion: "The broker must support TLS 1.2 or later; if you set --tls-version, try without it."
        case .tlsNotSpoken, .closedDuringHandshake:
            "This may be the port without TLS: try the TLS port, often 8883, or --no-tls."
        case .tlsClientCertificateRequired: "Give a certificate of yours: --cert and --key."
        case .tlsClientCertificateRejected: "Give a certificate of an authority that the broker trusts."
        case .tlsNoCommonProtocol: "Correct --tls-alpn, or leave it out."
        case .badCertificateFile, .badPrivateKeyFile, .wrongPassPhrase, .keyMismatch, .invalidConfiguration:
            "Correct the files of --cafile, --capath, --cert and --key."
        default: "Ask the broker's administrator for its log."
        }
    }

    /// Returns advice for a refused CONNECT.
    static func refused(_ code: PacketReasonCode) -> String {
        switch code {
        case .badUserNameOrPassword: "Correct the user name (-u) and the password (-P)."
        case .notAuthorized:
            "Set a user name (-u) and a password (-P) that may connect, or ask the broker's administrator."
        case .clientIdentifierNotValid: "Give a client id that the broker allows (-i)."
        case .banned: "Ask the broker's administrator why this client is banned."
        case .serverUnavailable, .serverBusy, .connectionRateExceeded, .quotaExceeded: "Try again later."
        case .useAnotherServer, .serverMoved: "Connect to the server that the broker names."
        default: "Ask the broker's administrator for its log."
        }
    }

    /// True if the broker refused the connection because of the client's identity or credentials.
    static func isAboutAccess(_ code: PacketReasonCode) -> Bool {
        [.badUserNameOrPassword, .notAuthorized, .clientIdentifierNotValid, .banned].contains(code)
    }
}
