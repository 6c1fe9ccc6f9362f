package import CommandArguments
import CourierTransport

/// Checks that need all options together.
extension ConnectionArguments {
    /// Whether the connection uses TLS.
    package var isSecure: Bool {
        !tls.isOff
            && (tls.authoritiesFile != nil || tls.authoritiesFolder != nil || tls.usesSystemAuthorities
                || tls.preSharedKey != nil || tls.isWanted
                || port == 8_883)
    }

    /// Runs ``checkUsage()`` and ``checkSetup()``.
    package func check() throws {
        try checkUsage()
        try checkProperties()
        try checkSetup()
    }

    /// Finds options that contradict each other or lack a required option, as the mosquitto clients do.
    package func checkUsage() throws(ArgumentError) {
        if will.topic == nil {
            if will.payload != nil { throw ArgumentError("Will payload given, but no will topic given.") }
            if will.isRetained { throw ArgumentError("Will retain given, but no will topic given.") }
        }
        if (tls.certificateFile == nil) != (tls.keyFile == nil) {
            throw ArgumentError("Both certfile and keyfile must be provided if one of them is set.")
        }
        if tls.keyForm != nil, tls.keyFile == nil {
            throw ArgumentError("If keyform is set, keyfile must be also specified.")
        }
        if tls.hasEnginePassword, tls.keyForm == nil || tls.engine == nil {
            throw ArgumentError(
                "when using tls-engine-kpass-sha1, both tls-engine and keyform must also be provided.")
        }
        if tls.preSharedKey != nil {
            if tls.authoritiesFile != nil || tls.authoritiesFolder != nil {
                throw ArgumentError("Only one of --psk or --cafile/--capath may be used at once.")
            }
            if tls.preSharedKeyIdentity == nil { throw ArgumentError("--psk-identity required if --psk used.") }
        }
        switch version {
        case .v31, .v311:
            if !isCleanSession, clientID == nil {
                throw ArgumentError("You must provide a client id if you are using the -c option.")
            }
        case .v5:
            if optionSessionExpiry == .max, clientID == nil {
                throw ArgumentError(
                    "You must provide a client id if you are using an infinite session expiry interval.")
            }
        }
    }

    /// Finds properties that `-D` gives twice, or gives with values that MQTT does not allow.
    ///
    /// - Throws: ``StartFailure`` in the words of the mosquitto clients.
    package func checkProperties() throws(StartFailure) {
        var properties = properties
        // `-x` and `-c` also set the session expiry interval, so a `-D` for this property is a duplicate.
        if version == .v5, optionSessionExpiry ?? 0 > 0 { properties.use("session-expiry-interval", in: .connect) }
        if let problem = properties.problem { throw StartFailure(problem, showsUsage: true) }
    }

    /// Finds missing files, and a client id or credentials that the MQTT version does not allow. Only `pub`, `sub` and
    /// `rr` call this method.
    ///
    /// - Throws: ``StartFailure`` in the words of the mosquitto clients.
    package func checkStart() throws(StartFailure) {
        if clientID?.isEmpty == true || (!isCleanSession && sentClientID.isEmpty) {
            throw StartFailure(role == .publisher ? "Error: Invalid id." : "Error: Invalid id and/or clean_session.")
        }
        // The mosquitto clients exit without a message if the client id is malformed, so this program uses its own
        // text.
        if let clientID, MalformedText.isFound(in: clientID) {
            throw StartFailure("Error: Malformed UTF-8 in the client id.")
        }
        if let username, MalformedText.isFound(in: username) {
            throw StartFailure(
                "Error: Problem setting username and/or password.",
                explanation:
                    "The user name is too long, or it contains control characters. "
                    + "Brokers close connections because of control characters."
            )
        }
        if version != .v5, username == nil, password != nil {
            throw StartFailure("Error: Problem setting username and/or password.")
        }
        if isSecure { try checkFiles() }
    }

    /// Opens each TLS file. A missing file is an error of the command line, not of TLS.
    private func checkFiles() throws(StartFailure) {
        for path in [tls.authoritiesFile, tls.certificateFile, tls.isKeyInHardware ? nil : tls.keyFile].compactMap(
            \.self)
        {
            do throws(SystemError) {
                let descriptor = try FileDescriptor.openForReading(path)
                try? FileDescriptor.closeFile(descriptor)
            } catch {
                throw StartFailure(
                    "Error: Problem setting TLS options: File not found.", explanation: "\(path): \(error.text)")
            }
        }
    }

    /// Finds unsupported options, and values that TLS does not accept.
    ///
    /// - Throws: ``StartFailure`` in the words of the mosquitto clients, and ``ArgumentError`` for values that only
    ///   this program refuses.
    package func checkSetup() throws {
        if let refusal = refusals.first { throw refusal }
        if let form = tls.keyForm, form != "pem", form != "engine" {
            throw StartFailure("Error: Problem setting key form, it must be one of 'pem' or 'engine'.")
        }
        if let version = tls.version, !Self.tlsVersions.contains(version) {
            throw StartFailure("Error: Problem setting TLS options, check the options are valid.")
        }
        try checkTLS()
        try checkSession()
        if shownHost.isEmpty {
            throw StartFailure("Unable to connect (Lookup error.).", explanation: "The host name is empty.")
        }
        if let port, !(0...65_535).contains(port) {
            throw StartFailure(
                "Unable to connect (Invalid function arguments provided.).",
                explanation: "The port \(port) is not between 0 and 65535.")
        }
        if unixPath != nil, transport == .webSocket {
            throw ArgumentError("--unix and --ws cannot be used together.", hint: "Remove one of these options.")
        }
    }

    /// The values of `--tls-version`.
    private static let tlsVersions = ["tlsv1.2", "tlsv1.3"]

    private func checkTLS() throws(ArgumentError) {
        if let engine = tls.engine, engine != "pkcs11" {
            throw ArgumentError(
                "The option --tls-engine does not support \(engine.debugDescription).",
                hint: "The only supported engine is pkcs11.")
        }
        if tls.isKeyInHardware, tls.engine == nil {
            throw ArgumentError("The option --keyform engine needs --tls-engine.", hint: "Add --tls-engine pkcs11.")
        }
        if tls.engine != nil, !tls.isKeyInHardware {
            throw ArgumentError("The option --tls-engine needs --keyform engine.", hint: "Add --keyform engine.")
        }
        let sources = [tls.authoritiesFile != nil, tls.authoritiesFolder != nil, tls.usesSystemAuthorities]
        if sources.count(where: { $0 }) > 1 {
            throw ArgumentError(
                "Only one of --cafile, --capath and --tls-use-os-certs is supported at once.",
                hint: "Put the certificates of all authorities into one file.")
        }
        if let key = tls.preSharedKey, let identity = tls.preSharedKeyIdentity {
            do throws(TransportError) {
                _ = try TLSPreSharedKey(identity: identity, hex: key)
            } catch {
                // The error message leaves out the pre-shared key, because the key is a secret.
                throw ArgumentError(
                    "The value of --psk must consist of an even number of hexadecimal digits.",
                    hint: "Write the key like 00112233aabbccdd.")
            }
        }
        if !isSecure, !tls.isOff {
            for (name, isGiven) in [
                ("--cert", tls.certificateFile != nil), ("--insecure", tls.isInsecure),
                ("--tls-alpn", tls.applicationProtocol != nil), ("--tls-version", tls.version != nil),
                ("--ciphers", tls.ciphers != nil), ("--psk-identity", tls.preSharedKeyIdentity != nil),
                ("--tls-keylog", tls.keyLogFile != nil),
            ] where isGiven {
                throw ArgumentError(
                    "The option \(name) needs TLS, but this connection does not use TLS.",
                    hint: "Add --cafile FILE or --tls-use-os-certs.")
            }
        }
    }

    private func checkSession() throws(ArgumentError) {
        if version == .v5, isCleanSession, clientID != nil, wantedSessionExpiry > 0 {
            throw ArgumentError(
                "The option -x needs -c: the client keeps a session only if the next connection continues the session.",
                hint: "Add -c.")
        }
        if storePath != nil, clientID == nil {
            throw ArgumentError(
                "--store needs a client id, because the file keeps messages under the client id.",
                hint: "Use -i with a client id.")
        }
        if storePath != nil, clientID?.contains("%") == true {
            throw ArgumentError(
                "--store needs a client id without %. Each % becomes a random character in each run.",
                hint: "Use -i with a client id that does not contain %.")
        }
        if properties.connect.authenticationData != nil, properties.connect.authenticationMethod == nil {
            throw ArgumentError(
                "The property authentication-data needs the property authentication-method.",
                hint: "Add -D connect authentication-method NAME.")
        }
    }

    /// The session expiry that `-x` and `-c` set, in seconds. It is unlimited with `-c` alone, and `nil` without both
    /// options.
    private var optionSessionExpiry: UInt32? { sessionExpiry ?? (isCleanSession ? nil : .max) }

    /// The requested session expiry in seconds. It is the value of `-x`, or unlimited with `-c` alone. Otherwise it is
    /// the value of `-D`, or 0.
    var wantedSessionExpiry: UInt32 {
        optionSessionExpiry ?? properties.connect.sessionExpiry ?? 0
    }
}
