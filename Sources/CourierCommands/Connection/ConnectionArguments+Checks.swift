package import CommandArguments

/// What can only be said of all options together.
extension ConnectionArguments {
    /// Whether TLS is spoken.
    package var isSecure: Bool {
        !tls.isOff
            && (tls.authoritiesFile != nil || tls.authoritiesFolder != nil || tls.usesSystemAuthorities || tls.isWanted
                || port == 8_883)
    }

    /// Finds options that contradict each other, or need others that are not there.
    package func check() throws(ArgumentError) {
        try checkWill()
        try checkTLS()
        try checkSession()
        if storePath != nil, clientID == nil {
            throw ArgumentError(
                "--store needs a client id, by which the messages in the file are known.", hint: "Give one by -i.")
        }
        if storePath != nil, clientID?.contains("%") == true {
            throw ArgumentError(
                "With a % in it the client id is another one for each run, and --store finds nothing again.",
                hint: "Give one without % by -i.")
        }
        if properties.connect.authenticationData != nil, properties.connect.authenticationMethod == nil {
            throw ArgumentError(
                "authentication-data given, but no authentication-method.",
                hint: "Add -D connect authentication-method NAME.")
        }
        if unixPath != nil, transport == .webSocket {
            throw ArgumentError("--unix and --ws can not be used together.", hint: "Leave one of them out.")
        }
    }

    private func checkWill() throws(ArgumentError) {
        guard will.topic == nil else { return }
        if will.payload != nil { throw ArgumentError("Will payload given, but no will topic given.") }
        if will.isRetained { throw ArgumentError("Will retain given, but no will topic given.") }
    }

    private func checkTLS() throws(ArgumentError) {
        if (tls.certificateFile == nil) != (tls.keyFile == nil) {
            throw ArgumentError("Both certfile and keyfile must be provided if one of them is set.")
        }
        if tls.keyForm != nil, tls.keyFile == nil {
            throw ArgumentError("If keyform is set, keyfile must be also specified.")
        }
        let sources = [tls.authoritiesFile != nil, tls.authoritiesFolder != nil, tls.usesSystemAuthorities]
        if sources.count(where: { $0 }) > 1 {
            throw ArgumentError(
                "Only one of --cafile, --capath and --tls-use-os-certs is supported at once.",
                hint: "Put all authorities into one file.")
        }
        if !isSecure, !tls.isOff {
            for (name, isGiven) in [
                ("--cert", tls.certificateFile != nil), ("--insecure", tls.isInsecure),
                ("--tls-alpn", tls.applicationProtocol != nil), ("--tls-version", tls.version != nil),
            ] where isGiven {
                throw ArgumentError(
                    "The option \(name) is about TLS, and the connection is without it.",
                    hint: "Add --cafile FILE or --tls-use-os-certs.")
            }
        }
    }

    private func checkSession() throws(ArgumentError) {
        let hasFixedID = clientID != nil
        switch version {
        case .v311:
            if !isCleanSession, !hasFixedID {
                throw ArgumentError("You must provide a client id if you are using the -c option.")
            }
        case .v5:
            if wantedSessionExpiry == .max, !hasFixedID {
                throw ArgumentError(
                    "You must provide a client id if you are using an infinite session expiry interval.")
            }
            if isCleanSession, wantedSessionExpiry > 0 {
                throw ArgumentError(
                    "The option -x is not supported without -c: a session that is kept is one that is continued.",
                    hint: "Add -c.")
            }
        }
    }

    /// How long the broker is to keep the session, in seconds: for ever with `-c`, not at all without.
    var wantedSessionExpiry: UInt32 {
        sessionExpiry ?? properties.connect.sessionExpiry ?? (isCleanSession ? 0 : .max)
    }
}
