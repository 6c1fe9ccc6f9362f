import CourierMQTT
import CourierTransport
import Foundation
import Glibc
import TrialSupport

/// An ejabberd with mod_mqtt. It runs outside of any Erlang cluster, so it needs no registry.
actor Ejabberd: Broker {
    private static let program = "/usr/sbin/ejabberdctl"
    /// The output line with which ejabberd reports that it is ready.
    private static let readyWords = "ejabberd is ready"

    let name = "ejabberd"
    let account = Account.ada
    let lacks = Ability.lackedByNewBrokers
    private let folder: TemporaryFolder
    private var ways: [Way] = []
    private var process: ChildProcess?

    init() throws { folder = try TemporaryFolder() }

    nonisolated var missingPackage: String? {
        FileManager.default.isExecutableFile(atPath: Self.program) ? nil : "ejabberd"
    }

    func start() async throws -> [Way] {
        if ways.isEmpty { try await configure() }
        let words = [account.user, "localhost", account.password].map { "<<\"\($0)\">>" }.joined(separator: ",")
        let process = try ChildProcess([
            "/usr/bin/env", "HOME=\(folder.path)", "ERL_LIBS=/usr/lib/\(Self.architecture)-linux-gnu",
            "ERL_CRASH_DUMP=/dev/null", "EJABBERD_CONFIG_PATH=\(folder.file("ejabberd.yml"))",
            "EJABBERD_LOG_PATH=\(folder.file("ejabberd.log"))", "erl", "+S", "1:1", "+sbwt", "none", "-noinput",
            "-mnesia", "dir", "\"\(folder.file("spool"))\"", "-s", "ejabberd", "-eval",
            "ejabberd_auth:try_register(\(words)), io:format(\"\(Self.readyWords)~n\").",
        ])
        self.process = process
        if let lastWords = await process.lastWords(before: Self.readyWords) {
            throw Failure("ejabberd did not start: \(lastWords)")
        }
        return ways
    }

    private static var architecture: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }

    private func configure() async throws {
        let (tcp, tls, ws, wss) = (
            try LocalPort.free(), try LocalPort.free(), try LocalPort.free(), try LocalPort.free()
        )
        let certificates = try await Certificates.shared
        let server = certificates.server
        // ejabberd needs the certificate and its key in one file.
        let both = try [server.certificateFile, server.privateKeyFile].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try both.joined().write(toFile: folder.file("server.pem"), atomically: true, encoding: .utf8)
        let settings = """
            hosts: [localhost]
            loglevel: error
            auth_method: internal
            certfiles: ["\(folder.file("server.pem"))"]
            ca_file: "\(certificates.authorityFile)"
            listen:
              - {port: \(tcp), ip: "127.0.0.1", module: mod_mqtt}
              - {port: \(tls), ip: "127.0.0.1", module: mod_mqtt, tls: true}
              - {port: \(ws), ip: "127.0.0.1", module: ejabberd_http, request_handlers: {/mqtt: mod_mqtt}}
              - {port: \(wss), ip: "127.0.0.1", module: ejabberd_http, request_handlers: {/mqtt: mod_mqtt}, tls: true}
            modules:
              mod_mqtt: {}

            """
        try settings.write(toFile: folder.file("ejabberd.yml"), atomically: true, encoding: .utf8)
        ways = [
            Way("tcp", port: tcp), Way("tls", port: tls, tls: certificates.client), Way("ws", port: ws),
            Way("wss", port: wss, tls: certificates.client),
        ]
    }

    func stop() async {
        process?.end(by: SIGKILL)
        process = nil
    }

    func remove() async {
        await stop()
        folder.remove()
    }
}
